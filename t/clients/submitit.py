"""submitit: a function, tasks on two nodes, an array, a failure, a cancel, checkpoint and requeue."""

# limit: 600
import os
import pathlib
import time

import submitit
from submitit.core.utils import FailedJobError, UncompletedJobError


def executor(**settings):
    ex = submitit.AutoExecutor(folder="log/%j", cluster="slurm")
    ex.update_parameters(timeout_min=5, slurm_mem="50MB", **settings)
    return ex


def square(x):
    return x * x


def rank():
    env = submitit.JobEnvironment()
    return env.global_rank, env.local_rank, env.node, env.num_tasks, env.num_nodes, len(env.hostnames)


def fail():
    raise ValueError("on purpose")


def sleep_long():
    time.sleep(200)


class Counter(submitit.helpers.Checkpointable):
    """Counts its starts in a file; its second run ends at once."""

    def __call__(self, path):
        path = pathlib.Path(path)
        with path.open("a") as f:
            f.write("start\n")
        starts = len(path.read_text().splitlines())
        while starts == 1:
            time.sleep(0.2)
        return starts, int(os.environ.get("SLURM_RESTART_COUNT", 0))


def wait_for(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def plain():
    job = executor(name="square").submit(square, 7)
    print("plain:", job.result(), job.state, job.exception())
    assert job.result() == 49


def tasks():
    job = executor(nodes=2, tasks_per_node=2, name="ranks").submit(rank)
    results = sorted(job.results())
    print("tasks:", results)
    assert [r[0] for r in results] == [0, 1, 2, 3] and results[3][2:] == (1, 4, 2, 2), results


def array():
    jobs = executor(slurm_array_parallelism=2, name="squares").map_array(square, range(5))
    print("array:", [job.result() for job in jobs], [job.state for job in jobs])
    assert [job.job_id.partition("_")[2] for job in jobs] == ["0", "1", "2", "3", "4"]


def failure():
    job = executor(name="fail").submit(fail)
    wait_for("FAILED", lambda: job.watcher.get_state(job.job_id, mode="force") == "FAILED")
    try:
        job.result()
    except FailedJobError as e:
        print("failure:", job.state, "on purpose" in str(e))


def cancel():
    job = executor(name="cancel").submit(sleep_long)
    wait_for("RUNNING", lambda: job.watcher.get_state(job.job_id, mode="force") == "RUNNING")
    job.cancel()
    wait_for("CANCELLED", lambda: job.watcher.get_state(job.job_id, mode="force").startswith("CANCELLED"))
    print("cancel:", job.state.split()[0], job.done())
    try:
        job.result()
    except UncompletedJobError:
        print("cancel: no result")


def preempted():
    """A signal as at a preemption: the job is put back, and runs again with the saved state."""
    job = executor(name="preempted").submit(Counter(), os.path.abspath("preempted"))
    wait_for("start", lambda: os.path.exists("preempted"))
    job._interrupt(timeout=False)
    print("preempted:", job.result())
    assert job.result()[0] == 2


def timeout():
    """The real signal before the time limit, and the requeue by submitit."""
    ex = submitit.AutoExecutor(folder="log/%j", cluster="slurm", slurm_max_num_timeout=1)
    ex.update_parameters(timeout_min=1, slurm_mem="50MB", slurm_signal_delay_s=50, name="timeout")
    job = ex.submit(Counter(), os.path.abspath("timeout"))
    print("timeout:", job.result())
    assert job.result()[0] == 2


for step in (plain, tasks, array, failure, cancel, preempted, timeout):
    step()
