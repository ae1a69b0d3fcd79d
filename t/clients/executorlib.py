"""executorlib: functions as batch jobs through pysqa, one after another; functions as steps in an allocation."""

import pathlib
import subprocess
import sys

from executorlib import SlurmClusterExecutor

INSIDE = """
from executorlib import SlurmJobExecutor


def where(x):
    import os
    return x * x, "SLURM_STEP_ID" in os.environ


with SlurmJobExecutor(max_cores=2) as exe:
    print([f.result() for f in [exe.submit(where, i) for i in range(4)]])
"""


def add(a, b):
    return a + b


def main():
    with SlurmClusterExecutor(
        resource_dict={"cores": 1, "partition": "batch", "run_time_max": 300}, cache_directory="cache"
    ) as exe:
        first = exe.submit(add, 1, 2)
        second = exe.submit(add, first, 4)
        print("jobs:", first.result(), second.result())
        assert (first.result(), second.result()) == (3, 7)
    pathlib.Path("inside.py").write_text(INSIDE, encoding="utf-8")
    subprocess.run(
        [
            "sbatch",
            "--wait",
            "--nodes=2",
            "--ntasks=2",
            "--time=5",
            "--output=inside.out",
            f"--wrap={sys.executable} inside.py",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    lines = pathlib.Path("inside.out").read_text(encoding="utf-8").splitlines()
    results = [line for line in lines if not line.startswith("srun:")]
    print("steps:", results)
    assert results == [str([(x * x, True) for x in range(4)])]


if __name__ == "__main__":
    main()
