"""JAX: two processes on two nodes find each other by the variables of the job, and add their numbers."""

import pathlib
import subprocess
import sys

# The names of virtual nodes (fluxqd --local) do not resolve: there the program names the address.
PROGRAM = """
import os
import socket
import subprocess

import jax

names = subprocess.run(["scontrol", "show", "hostnames"], capture_output=True, text=True, check=True).stdout.split()
try:
    socket.gethostbyname(names[0])
except OSError:
    os.environ["JAX_COORDINATOR_ADDRESS"] = "127.0.0.1:" + str(61000 + int(os.environ["SLURM_JOB_ID"]) % 4096)
jax.distributed.initialize()
from jax.experimental import multihost_utils
import jax.numpy as jnp

total = multihost_utils.process_allgather(jnp.array([jax.process_index() + 1.0])).sum()
print(jax.process_index(), jax.process_count(), jax.device_count(), float(total), flush=True)
jax.distributed.shutdown()
"""

pathlib.Path("program.py").write_text(PROGRAM, encoding="utf-8")
subprocess.run(
    [
        "sbatch",
        "--wait",
        "--nodes=2",
        "--ntasks-per-node=1",
        "--time=5",
        "--output=out",
        "--export=ALL,JAX_PLATFORMS=cpu",
        f"--wrap=srun {sys.executable} program.py",
    ],
    check=True,
    stdout=subprocess.DEVNULL,
)
lines = sorted(line for line in pathlib.Path("out").read_text(encoding="utf-8").splitlines() if line[:1].isdigit())
print("\n".join(lines))
assert lines == ["0 2 2 3.0", "1 2 2 3.0"], lines
