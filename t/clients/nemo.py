"""NeMo-Run: an experiment with two tasks on two nodes, without a container; its states and output.

The program replaces "/nemo_run" in paths, so this file has another name.
"""

import contextlib
import os
import pathlib
import sys
import time

os.environ["NEMORUN_HOME"] = os.path.abspath("home")

import nemo_run as run  # noqa: E402


def main():
    executor = run.SlurmExecutor(
        account="users",
        partition="batch",
        nodes=2,
        ntasks_per_node=1,
        time="00:05:00",
        mem="50M",
        tunnel=run.LocalTunnel(job_dir=os.environ["NEMORUN_HOME"] + "/experiments"),
        packager=run.Packager(),
        env_vars={"WORD": "word"},
        retries=0,
        exclusive=None,
    )
    executor.setup_lines = "echo head is on $head_node"
    with contextlib.redirect_stdout(sys.stderr), run.Experiment(
        "experiment", executor=executor, log_level="WARN"
    ) as experiment:
        experiment.add(run.Script(inline="echo $WORD $SLURM_PROCID of $SLURM_NTASKS"), name="tasks", tail_logs=False)
        experiment.run(detach=False)
        deadline = time.monotonic() + 60
        states = []
        while states not in (["SUCCEEDED"], ["FAILED"]) and time.monotonic() < deadline:
            time.sleep(0.5)
            states = [status["status"].name for status in experiment.status(return_dict=True).values()]
    print("states:", states)
    lines = sorted(
        line.split(": ")[-1]
        for path in pathlib.Path("home").rglob("*.out")
        for line in path.read_text(encoding="utf-8").splitlines()
        if " of 2" in line
    )
    print("output:", lines)
    assert states == ["SUCCEEDED"] and lines[-2:] == ["word 0 of 2", "word 1 of 2"]


if __name__ == "__main__":
    main()
