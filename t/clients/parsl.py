"""Parsl: apps in Python and in the shell on blocks of two nodes; srun launches the workers."""

import parsl
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.launchers import SrunLauncher
from parsl.providers import SlurmProvider


@parsl.python_app
def where(x):
    import os

    return x * x, os.environ["SLURM_PROCID"], os.environ["SLURM_JOB_NUM_NODES"]


@parsl.bash_app
def shell(word, stdout="shell.out"):
    return f"echo {word} $SLURM_JOB_NAME"


@parsl.python_app
def fails():
    raise ValueError("on purpose")


def main():
    provider = SlurmProvider(
        partition="batch",
        nodes_per_block=2,
        init_blocks=1,
        min_blocks=0,
        max_blocks=1,
        walltime="00:05:00",
        cores_per_node=1,
        exclusive=False,
        launcher=SrunLauncher(),
        worker_init="export PYTHONUNBUFFERED=1",
    )
    executor = HighThroughputExecutor(
        label="slurm",
        address="127.0.0.1",
        loopback_address="127.0.0.1",
        provider=provider,
        max_workers_per_node=1,
        encrypted=False,
    )
    with parsl.load(Config(executors=[executor], run_dir="run", strategy="none", usage_tracking=0)):
        results = [future.result(120) for future in [where(i) for i in range(8)]]
        print("squares:", [r[0] for r in results], "nodes:", sorted({r[2] for r in results}))
        assert shell("word").result(60) == 0
        with open("shell.out", encoding="utf-8") as f:
            print("shell:", f.read().split()[0])
        try:
            fails().result(60)
        except ValueError as e:
            print("fails:", e)
        print("status:", [status.state.name for status in executor.status().values()])


if __name__ == "__main__":
    main()
