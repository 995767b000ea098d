"""N empty tasks through dask.distributed, one worker process. Prints the seconds.

dask-tasks.py N THREADS FOLDER

Nothing is written to disk: a scheduler that ends forgets all of it.
"""

import sys
import time

from distributed import Client, LocalCluster, wait


def empty(index):
    return None


if __name__ == "__main__":
    n, threads, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    options = {"n_workers": 1, "threads_per_worker": threads, "processes": True, "local_directory": folder}
    with LocalCluster(dashboard_address=None, **options) as cluster, Client(cluster) as client:
        client.submit(empty, -1).result()
        begin = time.monotonic()
        futures = client.map(empty, range(n), pure=False)
        wait(futures)
        failed = sum(future.status != "finished" for future in futures)
        seconds = time.monotonic() - begin
        if failed > 0:
            sys.exit(f"{failed} tasks failed")
        print(seconds)
