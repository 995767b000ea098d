#!/bin/sh
# Makes a clone ready to run: the packages of the lockfile, which bring the right Node, and the bundles.
# Does nothing when both are there. Called by ./drover, `npm test` and the set-up of the tests; they may be
# many at once, so the work is done under a lock.
set -u

cd "$(dirname "$0")/.." || exit 70
lock=.bundle/lock
log=.bundle/set-up.log

say() { printf 'drover: %s\n' "$*" >&2; }

fail() {
  say "$1"
  shift
  for line; do printf '        %s\n' "$line" >&2; done
  exit 70
}

# npm writes node_modules/.package-lock.json when all the rest is in place: an interrupted install lacks it.
packages_ready() {
  [ -f node_modules/.package-lock.json ] && ! [ package-lock.json -nt node_modules/.package-lock.json ]
}

bundles_ready() {
  [ -f .bundle/stamp ] && [ -f .bundle/cli.js ] &&
    [ -z "$(find src package.json package-lock.json scripts/bundle.ts -newer .bundle/stamp -print 2>/dev/null | head -n 1)" ]
}

ready() { packages_ready && bundles_ready; }

# The lock is a folder that names its owner, who is gone when this machine has no process of that number. A folder
# that names nobody (made, then killed at once), somebody elsewhere, or a number since reused is let go by its age.
read_owner() { [ -f "$1/owner" ] && read -r owner_host owner_pid 2>/dev/null <"$1/owner"; }

owner_is_gone() {
  if read_owner "$lock" && [ "$owner_host" = "$(uname -n)" ] && ! kill -0 "$owner_pid" 2>/dev/null; then return 0; fi
  [ -n "$(find "$lock" -prune -mmin +20 2>/dev/null)" ]
}

take_lock() {
  told=
  until mkdir "$lock" 2>/dev/null; do
    [ -d "$lock" ] || [ -w .bundle ] || fail "can't write to $PWD/.bundle" "Make this folder writable, or run drover from a clone of your own."
    owner_pid=
    if owner_is_gone; then
      # A rename has one winner, and what it moved is looked at again before it is thrown away.
      if mv "$lock" "$lock.$$" 2>/dev/null; then
        stale=$lock.$$
        gone_pid=${owner_pid:-}
        if read_owner "$stale" && [ "$owner_pid" != "$gone_pid" ]; then mv "$stale" "$lock"; else rm -rf "$stale"; fi
      fi
      continue
    fi
    [ -n "$told" ] || say 'another drover is setting up here, waiting for it…'
    told=yes
    sleep 0.2
  done
  trap 'rm -rf "$lock"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  printf '%s %s\n' "$(uname -n)" "$$" >"$lock/owner"
}

install_packages() {
  command -v npm >/dev/null 2>&1 || fail 'npm is not installed, and the packages of this clone are missing.' \
    'Install Node 20 or newer with npm (https://nodejs.org), then run this again.' \
    'Node 24, which drover runs on, is fetched with the packages.'
  if [ -d node_modules ]; then reason='packages have changed or are incomplete'; else reason='first run here'; fi
  say "$reason, installing (about 20 s)…"
  # The marker goes first: whatever interrupts npm, the next run starts again.
  rm -f node_modules/.package-lock.json
  npm ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error >"$log" 2>&1 || {
    cat "$log" >&2
    fail 'npm could not install the packages (its output is above).' \
      'Check the network and the free space, then run this again; it starts over by itself.'
  }
  touch node_modules/.package-lock.json
}

# Node 24 comes with the packages where there is one for this machine; elsewhere the machine's own must do.
choose_node() {
  PATH=$PWD/node_modules/.bin:$PATH
  major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null)
  [ "${major:-0}" -ge 24 ] || fail "Node 24 is needed, and there is no packaged one for $(uname -sm)." \
    'Install Node 24 or newer, put it in PATH, then run this again.'
}

build_bundles() {
  node scripts/bundle.ts >"$log" 2>&1 || {
    cat "$log" >&2
    fail 'the sources could not be bundled (the reason is above).'
  }
}

ready && exit 0
mkdir -p .bundle 2>/dev/null
take_lock
packages_ready || install_packages
if ! bundles_ready; then
  choose_node
  build_bundles
fi
