"""HyperQueue with one worker: N tasks, from before their submission to the end of the last. Prints the seconds.

hyperqueue-tasks.py N CORES FOLDER PROGRAM [ARGUMENT...]

Server and worker are a process of their own: it forks for each task, which costs more the larger it is, and the client
that builds N tasks is large. The output of each task is kept in two files, and the journal is off: both are defaults.
"""

import subprocess
import sys
import time
from pathlib import Path

from hyperqueue import Job, LocalCluster
from hyperqueue.client import Client
from hyperqueue.cluster import WorkerConfig


def serve(folder, cores):
    """Until stdin ends. Says when it is ready."""
    with LocalCluster(folder, WorkerConfig(cores=cores)):
        print("ready", flush=True)
        sys.stdin.read()


def run(client, folder, n, words):
    begin = time.monotonic()
    job = Job(default_workdir=folder)
    for _ in range(n):
        job.program(words)
    client.wait_for_jobs([client.submit(job)])
    return time.monotonic() - begin


def main(n, cores, folder, words):
    server, work = folder / "server", folder / "work"
    work.mkdir()
    command = [sys.executable, __file__, "serve", str(server), str(cores)]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cluster:
        if not any(line.strip() == "ready" for line in cluster.stdout):
            sys.exit("the cluster did not come up")
        client = Client(server)
        # The first job finds the worker connected and the server warm.
        run(client, folder, 1, ["true"])
        print(run(client, work, n, words))
        cluster.stdin.close()


if sys.argv[1] == "serve":
    serve(sys.argv[2], int(sys.argv[3]))
else:
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
