"""simple_slurm: scripts on standard input, an array, options with blanks in directives, dependency, the queue as CSV."""

import os
import pathlib
import re
import time

from simple_slurm import Slurm


def wait_for(what, condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def text(path):
    path = pathlib.Path(path)
    return path.read_text() if path.exists() else ""


def array():
    slurm = Slurm(
        array=range(3, 6), cpus_per_task=1, job_name="name", mem="50M", output="array-%a.out", time="0-00:05:00"
    )
    slurm.add_cmd("echo task $SLURM_ARRAY_TASK_ID")
    job = slurm.sbatch("hostname >/dev/null && echo done " + Slurm.SLURM_ARRAY_JOB_ID)
    for task in range(3, 6):
        wait_for("array", lambda task=task: "done" in text(f"array-{task}.out"))
        lines = text(f"array-{task}.out").split("\n")
        assert lines[:2] == [f"task {task}", f"done {job}"], lines
    print("array: done")
    return job


def dependency(job):
    slurm = Slurm(mem="50M", output="after.out", dependency=dict(afterok=job))
    slurm.sbatch("echo after")
    wait_for("dependency", lambda: text("after.out") == "after\n")
    print("dependency: done")


def step():
    slurm = Slurm(ntasks=1, mem="50M", job_name="step")
    print("srun:", slurm.srun("true"))


def queue():
    slurm = Slurm(job_name="held", mem="50M", output="held.out", hold=True)
    slurm.set_time("00:05:00")
    job = slurm.sbatch("true")
    slurm.squeue.update_squeue()
    row = slurm.squeue.jobs[job]
    print("queue:", {key: value for key, value in sorted(row.items()) if key != "JOBID"})
    slurm.scancel.cancel_job(job)
    wait_for("cancel", lambda: not (slurm.squeue.update_squeue() or slurm.squeue.jobs))
    print("cancel: done")


assert re.match(r"\d", os.popen("sbatch --version").read().split()[1])
first = array()
dependency(first)
step()
queue()
