#!/usr/bin/env bash
# A worker in bash, curl and jq, for one task at a time: docs/API.md says what it does, request by request. It serves the
# controller at DROVER_URL, with DROVER_TOKEN; or that of an access file, DROVER_ACCESS or .drover/access.json.
set -u
access=${DROVER_ACCESS:-.drover/access.json} url=${DROVER_URL:-$(jq -r .url "$access")}/api/v1 tls=() worker=
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT && trap leave TERM INT HUP
# Not as an argument: those of a process can be seen by everybody.
printf 'Authorization: Bearer %s\n' "${DROVER_TOKEN:-$(jq -r .tokens.worker "$access")}" >"$dir/headers"
if [[ $url == https:* ]]; then # Its very key is trusted, and nothing else, whatever its name.
  key=$(jq -r .certificate "$access" | openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64)
  tls=(-k --pinnedpubkey "sha256//$key")
fi
send() { # METHOD PATH [what curl needs]: succeeds when the answer, which is in a file, is a good one
  status=$(curl -sS -m 60 "${tls[@]}" -H @"$dir/headers" -X "$1" "$url/$2" -o "$dir/answer" -w '%{http_code}' "${@:3}" 2>/dev/null)
  [[ $status == 2* ]]
}
json() { send "$1" "$2" -H 'Content-Type: application/json' -d "$3"; }
insist() { until json "$@" || [[ $status == 4* ]]; do sleep 1; done; [[ $status == 2* ]]; }
answer() { jq -r "$1" "$dir/answer"; }
claim() { jq -r "$1" <<<"$claim"; }
now() { cut -d ' ' -f 1 --output-delimiter= /proc/uptime | tr -d .; } # in 10 ms, the time asleep included
leave() { # Dead first: who leaves says that nothing is left.
  trap '' TERM INT HUP
  [[ -z ${pid-} ]] || { kill -KILL -- "-$pid"; wait "$pid"; } 2>/dev/null
  for ((try = 0; try < 5; try++)); do [[ -z $worker ]] || send DELETE "workers/$worker" || [[ $status == 4* ]] && break; sleep 1; done
  exit
}

beat() { # ATTEMPT…: renews the leases of what runs, and learns what is to be ended
  local at; at=$(now)
  beatAt=$((at + heartbeatMs / 10))
  json POST "workers/$worker/heartbeat" "$(jq -nc '{attempts: $ARGS.positional}' --args "$@")" || return
  local left=$(($(answer '.leaseMs - .marginMs') - 10 * ($(now) - at)))
  printf -v patience '%d.%03d' $((left / 1000)) $((left % 1000)) # in seconds
}
upload() { # STREAM: what was written since the last time
  while (($(stat -c %s "$dir/$1") > sent[$1])); do
    tail -c "+$((sent[$1] + 1))" "$dir/$1" | head -c 1000000 >"$dir/piece"
    send PUT "attempts/${attempt/\#/%23}/output/$1?worker=$worker&offset=${sent[$1]}" -T "$dir/piece" || return
    sent[$1]=$(answer .offset)
  done
}
run() { # $claim, in a process group of its own
  local why='' env code end guard killAt=0 attempt pid limit; declare -A sent=([stdout]=0 [stderr]=0)
  attempt=$(claim .attempt) limit=$(($(now) + $(claim '.timeoutMs // 1e12 | floor') / 10))
  # Its lease began some time after it was asked for: renewed now, it is known how long it holds.
  until beat "$attempt"; do [[ $status == 404 ]] && return; sleep 0.5; done
  [[ $(answer '.cancel[0].why') == gone ]] && return
  mapfile -d '' env < <(jq -j '.env | to_entries[] | "\(.key)=\(.value)\u0000"' <<<"$claim")
  # The promise: it is dead before its lease is over, though this script be stopped or killed by then.
  exec {guard}> >(exec setsid bash -c 'read -r pid && while read -r -t "$1" more; do set "$more"; done; kill -KILL -- "-$pid"' guard "$patience")
  (exec {guard}>&- && cd "$(claim .cwd)" && exec setsid env -i "${env[@]}" "$(claim .shell)" -c "$(claim .command)") </dev/null >"$dir/stdout" 2>"$dir/stderr" &
  pid=$! && echo "$pid" >&"$guard"
  while [[ -n $(jobs -pr) ]]; do
    sleep 0.1
    if (($(now) >= beatAt)); then
      if beat "$attempt"; then echo "$patience" >&"$guard"; why=${why:-$(answer '.cancel[0].why // ""')}; fi
      [[ $status == 404 ]] && why=gone
      upload stdout; upload stderr
    fi
    (($(now) >= limit)) && why=${why:-timeout}
    if [[ -n $why && $killAt == 0 ]]; then kill -TERM -- "-$pid"; killAt=$(($(now) + $(claim .terminationMs) / 10)); fi
    if ((killAt > 0 && $(now) >= killAt)); then kill -KILL -- "-$pid"; why+=' killed'; killAt=$((1 << 60)); fi
  done 2>/dev/null
  wait "$pid"; code=$?
  exec {guard}>&-
  [[ $why == gone* ]] && return
  until upload stdout && upload stderr || [[ $status == 4* ]]; do sleep 1; done
  # The shell can't tell death by a signal from an exit above 128.
  if [[ $why == timeout* ]]; then end='{resource: "runtime"}'; elif [[ $why == *killed ]]; then end='{}'
  elif ((code > 128)); then end="{signal: $((code - 128))}"; else end="{exit_status: $code}"; fi
  insist PATCH "tasks/$(claim .task)" "$(jq -nc --arg worker "$worker" --arg why "$why" "{
    state: (if \$why == \"\" or (\$why | startswith(\"timeout\")) then \"terminated\" else \"cancelled\" end),
    execution_info: ({worker: \$worker, attempt: $(claim .number), time_terminated: (now * 1000 | floor)} + $end)}")" ||
    answer .error.message >&2
}
while :; do
  if [[ -z $worker ]]; then # at first, and when the controller has given this worker up
    insist POST workers "$(jq -nc --arg host "$(uname -n)" '{name: "worker.sh", host: $host}')" || { answer .error.message >&2; exit 1; }
    worker=$(answer .id) heartbeatMs=$(answer .heartbeatMs)
  fi
  if beat; then [[ $(answer .bar) == stopping ]] && leave; else [[ $status == 404 ]] && worker=''; sleep 0.5; continue; fi
  json POST "workers/$worker/claims" '{"waitMs": 1000}' && claim=$(jq -c '.claims[0] // empty' "$dir/answer") && [[ -n $claim ]] && run
done
