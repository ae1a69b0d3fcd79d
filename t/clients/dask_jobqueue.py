"""dask-jobqueue: two workers as batch jobs call home, compute, and are cancelled."""

import time

from dask.distributed import Client
from dask_jobqueue import SLURMCluster


def square(x):
    return x * x


def main():
    cluster = SLURMCluster(
        cores=1,
        memory="200MB",
        processes=1,
        walltime="00:05:00",
        interface="lo",
        queue="batch",
        log_directory="log",
        job_extra_directives=["--comment=dask"],
        job_script_prologue=["hostname"],
        scheduler_options={"dashboard_address": None},
    )
    print("\n".join(line for line in cluster.job_script().splitlines() if line.startswith("#SBATCH")))
    cluster.scale(jobs=2)
    client = Client(cluster)
    client.wait_for_workers(2, timeout=120)
    assert len(cluster.workers) == 2
    print("sum:", client.submit(sum, client.map(square, range(10))).result(timeout=60))
    cluster.scale(jobs=0)
    deadline = time.monotonic() + 60
    while client.scheduler_info()["workers"]:
        assert time.monotonic() < deadline, "workers"
        time.sleep(0.2)
    print("workers: 0")
    client.close()
    cluster.close()


if __name__ == "__main__":
    main()
