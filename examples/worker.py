#!/usr/bin/env python3
"""A worker over HTTP with Python's standard library alone: docs/API.md says what it does, request by request.

It serves the controller at DROVER_URL, with DROVER_TOKEN; or that of an access file, DROVER_ACCESS or
.drover/access.json. `worker.py [SLOTS]` runs that many tasks at a time, until TERM or Ctrl-C.
"""
import http.client, json, os, signal, socket, ssl, subprocess, sys, tempfile, threading, time, urllib.parse

PIECE = 1_000_000

# Kills a process group when it was told nothing for so long: the worker may be stopped or dead by then, and the promise
# is that what it runs is dead before its lease is over.
GUARD = """
import os, select
group, seconds = 0, 60
while select.select([0], [], [], seconds)[0]:
    told = os.read(0, 4096).split()
    if not told: break
    group, seconds = int(told[-2]), float(told[-1])
try: os.killpg(group, 9) if group else None
except ProcessLookupError: pass
"""


class Refused(Exception):
    def __init__(self, status, answer):
        error = answer.get("error", {}) if isinstance(answer, dict) else {}
        super().__init__(error.get("message", str(status)))
        self.status, self.code = status, error.get("code")


class Server:
    """The API of the controller: a connection per request, so that any thread may ask."""

    def __init__(self):
        path = os.environ.get("DROVER_ACCESS", ".drover/access.json")
        access = json.load(open(path)) if "DROVER_URL" not in os.environ or os.path.exists(path) else {}
        self.url = urllib.parse.urlsplit(os.environ.get("DROVER_URL") or access["url"])
        self.token = os.environ.get("DROVER_TOKEN") or access["tokens"]["worker"]
        self.tls = None
        if self.url.scheme == "https":  # That very certificate is trusted, and nothing else, whatever its name.
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.tls.check_hostname = False
            self.tls.load_verify_locations(cadata=access["certificate"])

    def ask(self, method, path, body=None, wait=0):
        host, port, timeout = self.url.hostname, self.url.port, 30 + wait
        if self.tls is None:
            connection = http.client.HTTPConnection(host, port, timeout=timeout)
        else:
            connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=self.tls)
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        headers = {"Authorization": f"Bearer {self.token}", **({} if body is None else {"Content-Type": kind})}
        try:
            content = body if isinstance(body, bytes) or body is None else json.dumps(body)
            connection.request(method, f"/api/v1/{path}", content, headers)
            response = connection.getresponse()
            answer = json.loads(response.read() or b"{}")
        finally:
            connection.close()
        if response.status >= 300:
            raise Refused(response.status, answer)
        return answer

    def insist(self, *request):
        """Until the controller has an opinion, be it a bad one: it may be restarting."""
        while True:
            try:
                return self.ask(*request)
            except Refused as refusal:
                if refusal.status < 500:
                    raise
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.5)


def patience_of(terms):
    """For how many seconds what runs may live on without a renewal."""
    return (terms["leaseMs"] - terms["marginMs"]) / 1000


class Attempt:
    """One claim, run in a session of its own; its output goes to files and from there to the controller."""

    def __init__(self, server, owner, claim, patience):
        self.server, self.owner, self.claim, self.name = server, owner, claim, claim["attempt"]
        self.why, self.killed = None, False
        self.files = {stream: tempfile.TemporaryFile() for stream in ("stdout", "stderr")}
        self.sent = {stream: 0 for stream in self.files}
        self.uploading = threading.Lock()
        self.guard = subprocess.Popen([sys.executable, "-c", GUARD], stdin=subprocess.PIPE, start_new_session=True)
        self.process = subprocess.Popen(
            [claim["shell"], "-c", claim["command"]], cwd=claim["cwd"], env=claim["env"],
            stdin=subprocess.DEVNULL, start_new_session=True, **self.files)
        self.renewed(patience)

    def renewed(self, patience):
        try:
            self.guard.stdin.write(f"{self.process.pid} {patience}\n".encode())
            self.guard.stdin.flush()
        except OSError:
            pass

    def signal(self, number):
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass

    def stop(self, why):
        """TERM, then KILL when that did not help in time; once. What is gone for the controller is not worth waiting for."""
        if self.why is not None:
            return
        self.why = why
        self.signal(signal.SIGKILL if why == "gone" else signal.SIGTERM)

        def kill():
            self.killed = self.process.poll() is None
            self.signal(signal.SIGKILL)

        timer = threading.Timer(self.claim["terminationMs"] / 1000, kill)
        timer.daemon = True
        timer.start()

    def upload(self):
        with self.uploading:
            for stream, file in self.files.items():
                while piece := os.pread(file.fileno(), PIECE, self.sent[stream]):
                    name = urllib.parse.quote(self.name)
                    place = f"attempts/{name}/output/{stream}?worker={self.owner}&offset={self.sent[stream]}"
                    self.sent[stream] = self.server.insist("PUT", place, piece)["offset"]

    def finish(self):
        """Waits for it, and tells how it ended."""
        limit = self.claim.get("timeoutMs")
        try:
            self.process.wait(limit / 1000 if limit else None)
        except subprocess.TimeoutExpired:
            self.stop("timeout")
            self.process.wait()
        ended = int(time.time() * 1000)
        self.guard.stdin.close()  # It ends what was left behind, and itself.
        self.guard.wait()
        if self.why == "gone":
            return
        self.upload()
        code = self.process.returncode
        info = {"worker": self.owner, "attempt": self.claim["number"], "time_terminated": ended}
        if self.why == "timeout":
            info["resource"] = "runtime"
        elif not self.killed:
            info.update({"exit_status": code} if code >= 0 else {"signal": -code})
        state = "cancelled" if self.why in ("cancel", "halt") else "terminated"
        self.server.insist("PATCH", f"tasks/{self.claim['task']}", {"state": state, "execution_info": info})


class Worker:
    def __init__(self, server, slots):
        self.server, self.slots, self.running, self.lock = server, slots, {}, threading.Lock()
        self.register()

    def register(self):
        names = {"name": "worker.py", "host": socket.gethostname(), "slots": self.slots}
        terms = self.server.insist("POST", "workers", names)
        self.id, self.pause = terms["id"], terms["heartbeatMs"] / 1000
        print(f"worker.py: this is {self.id}", file=sys.stderr, flush=True)

    def attempts(self):
        with self.lock:
            return dict(self.running)

    def beat(self):
        """For ever: renews the leases of what runs. Counted from when it was sent, so that it is never too long."""
        while True:
            sent = time.monotonic()
            running = self.attempts()
            try:
                answer = self.server.ask("POST", f"workers/{self.id}/heartbeat", {"attempts": list(running)})
                for attempt in running.values():
                    attempt.renewed(patience_of(answer) - (time.monotonic() - sent))
                self.obey(answer["cancel"])
            except Refused as refusal:
                if refusal.status == 404:  # It was given up, and so was all that it ran.
                    for attempt in running.values():
                        attempt.stop("gone")
                    self.register()
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(self.pause)

    def listen(self):
        """For ever: learns of cancellations as soon as there are any."""
        while True:
            try:
                known = urllib.parse.quote(",".join(n for n, a in self.attempts().items() if a.why is not None))
                self.obey(self.server.ask("GET", f"workers/{self.id}/orders?waitMs=10000&known={known}", wait=10)["cancel"])
            except (Refused, OSError, http.client.HTTPException, ValueError):
                time.sleep(1)

    def obey(self, orders):
        running = self.attempts()
        for order in orders:
            if order["attempt"] in running:
                running[order["attempt"]].stop(order["why"])

    def show(self):
        """For ever: sends what tasks print while they run."""
        while True:
            time.sleep(1)
            for attempt in self.attempts().values():
                try:
                    attempt.upload()
                except Refused:
                    pass

    def work(self):
        """For ever: one task after the other. Each slot is a thread."""
        while True:
            try:
                claims = self.server.ask("POST", f"workers/{self.id}/claims", {"max": 1, "waitMs": 10_000}, 10)["claims"]
            except (Refused, OSError, http.client.HTTPException, ValueError):
                time.sleep(1)
                continue
            for claim in claims:
                self.run(claim)

    def run(self, claim):
        # Its lease began some time after it was asked for: renewed now, it is known how long it holds.
        owner, sent = self.id, time.monotonic()
        try:
            answer = self.server.insist("POST", f"workers/{owner}/heartbeat", {"attempts": [claim["attempt"]]})
        except Refused:
            return  # It was given up meanwhile.
        patience = patience_of(answer) - (time.monotonic() - sent)
        if patience <= 0 or {"attempt": claim["attempt"], "why": "gone"} in answer["cancel"]:
            return
        try:
            attempt = Attempt(self.server, owner, claim, patience)
        except OSError as error:
            info = {"worker": owner, "attempt": claim["number"], "not_started": str(error)}
            self.server.insist("PATCH", f"tasks/{claim['task']}", {"state": "terminated", "execution_info": info})
            return
        with self.lock:
            self.running[attempt.name] = attempt
        try:
            attempt.finish()
        except Refused as refusal:
            print(f"worker.py: {attempt.name}: {refusal}", file=sys.stderr, flush=True)
        finally:
            with self.lock:
                del self.running[attempt.name]


def main():
    worker = Worker(Server(), int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1)
    for task in [worker.beat, worker.listen, worker.show] + [worker.work] * worker.slots:
        threading.Thread(target=task, daemon=True).start()
    ends = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ends.set())
    ends.wait()
    for attempt in worker.attempts().values():  # Dead first: who leaves says that nothing is left.
        attempt.stop("gone")
        attempt.process.wait()
    try:
        worker.server.ask("DELETE", f"workers/{worker.id}")
    except (Refused, OSError, http.client.HTTPException):
        pass  # Then its lease ends.


main()
