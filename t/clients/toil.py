"""Toil: a workflow with children, a follow-on, and a job that succeeds at its second try."""

# limit: 400
import os

from toil.common import Toil
from toil.job import Job

SMALL = {"memory": "50M", "cores": 1, "disk": "10M"}


def square(job, x):
    job.log(f"square of {x}")
    return x * x


def total(job, values, mark):
    if not os.path.exists(mark):
        with open(mark, "wb"):
            pass
        raise RuntimeError("the first try fails")
    return sum(values), int(os.environ["SLURM_CPUS_ON_NODE"])


def root(job, mark):
    values = [job.addChildJobFn(square, i, **SMALL).rv() for i in range(1, 4)]
    return job.addFollowOnJobFn(total, values, mark, **SMALL).rv()


def main():
    options = Job.Runner.getDefaultOptions("file:" + os.path.abspath("store"))
    options.batchSystem = "slurm"
    options.slurmPartition = "batch"
    options.slurmTime = "300"
    options.defaultMemory = 50 * 2**20
    options.retryCount = 2
    options.clean = "always"
    options.statePollingWait = 1
    options.disableWorkerOutputCapture = True
    with Toil(options) as toil:
        result = toil.start(Job.wrapJobFn(root, os.path.abspath("mark"), **SMALL))
    print("sum:", result)
    assert result[0] == 14


if __name__ == "__main__":
    main()
