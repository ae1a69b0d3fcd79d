"""NeMo-Run: an experiment with two tasks on two nodes, without a container; its states and output. Another one with
two scripts, each on nodes of its own, which is a heterogeneous job.

The program replaces "/nemo_run" in paths, so this file has another name.
"""

# NeMo-Run waits 30 seconds between two scripts, and a minute after each of them.
# limit: 400

import contextlib
import os
import pathlib
import sys
import time

os.environ["NEMORUN_HOME"] = os.path.abspath("home")

import nemo_run as run  # noqa: E402


def make_executor(nodes, **more):
    executor = run.SlurmExecutor(
        account="users",
        partition="batch",
        nodes=nodes,
        ntasks_per_node=1,
        time="00:05:00",
        mem="50M",
        tunnel=run.LocalTunnel(job_dir=os.environ["NEMORUN_HOME"] + "/experiments"),
        packager=run.Packager(),
        env_vars={"WORD": "word"},
        retries=0,
        exclusive=None,
        **more,
    )
    executor.setup_lines = "echo head is on $head_node"
    return executor


def run_experiment(name, task, executor):
    """The states of the experiment, and the lines of its output with " of 2"."""
    with contextlib.redirect_stdout(sys.stderr), run.Experiment(name, log_level="WARN") as experiment:
        experiment.add(task, executor=executor, name="tasks", tail_logs=False)
        experiment.run(detach=False)
        deadline = time.monotonic() + 280
        states = []
        while states not in (["SUCCEEDED"], ["FAILED"]) and time.monotonic() < deadline:
            time.sleep(0.5)
            states = [status["status"].name for status in experiment.status(return_dict=True).values()]
    lines = {
        line.split(": ")[-1]
        for path in (pathlib.Path("home") / "experiments" / name).rglob("*.out")
        for line in path.read_text(encoding="utf-8").splitlines()
        if " of 2" in line
    }
    print("states:", states)
    print("output:", sorted(lines))
    assert states == ["SUCCEEDED"]
    return sorted(lines)


def main():
    task = run.Script(inline="echo $WORD $SLURM_PROCID of $SLURM_NTASKS")
    assert run_experiment("experiment", task, make_executor(2)) == ["word 0 of 2", "word 1 of 2"]
    tasks = [run.Script(inline="echo one of 2"), run.Script(inline="echo two of 2")]
    executors = [make_executor(1, heterogeneous=True) for _ in range(2)]
    assert run_experiment("groups", tasks, executors) == ["one of 2", "two of 2"]


if __name__ == "__main__":
    main()
