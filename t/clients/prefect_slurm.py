#!/usr/bin/env python3
"""prefect_slurm.py - prefect-slurm (PyPI): its worker runs a flow as a job, over REST

Needs the variables SLURM_URL, SLURM_TOKEN and SLURM_USER, and SLURM_PARTITION unless that is
"batch". Starts a Prefect server of its own on a free port, with its data in a folder that is
removed, makes a work pool of type slurm and a deployment of a flow that writes a file, and
lets the worker of prefect-slurm submit one run, as its users do. Exit status 1 after a
difference. The job runs on this machine, in this Python's environment.
"""

import asyncio
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.pop(0)  # this folder, whose file has the name of the package

FLOW = '''
import pathlib
from prefect import flow

@flow
def hello(path: str):
    pathlib.Path(path).write_text("hello from a job\\n")
'''


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def set_environment(folder, port):
    os.environ.update({
        "PREFECT_HOME": f"{folder}/home", "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1", "PREFECT_LOGGING_LEVEL": "WARNING",
        "PREFECT_SLURM_API_URL": os.environ["SLURM_URL"], "PREFECT_SLURM_USER_NAME": os.environ["SLURM_USER"],
        "PREFECT_SLURM_USER_TOKEN": os.environ["SLURM_TOKEN"], "PREFECT_SLURM_ENV_FILE": "/dev/null",
        "PREFECT_SLURM_MAX_ATTEMPTS": "1"})


def start_server(folder, port):
    with open(f"{folder}/server.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen([sys.executable, "-m", "prefect", "server", "start", "--port", str(port)],
                                  stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=5).read()
            return server
        except OSError:
            time.sleep(0.3)
    server.kill()
    sys.exit("prefect server did not start:\n" + open(f"{folder}/server.log", encoding="utf-8").read()[-2000:])


async def prepare(folder):
    """Makes pool and deployment, and a run of it: the run."""
    from prefect import flow
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect_slurm.worker import SlurmWorker

    async with get_client() as client:
        await client.create_work_pool(WorkPoolCreate(
            name="pool", type="slurm", base_job_template=SlurmWorker.get_default_base_job_template()))
        loaded = await flow.from_source(folder, "hello_flow.py:hello")
        deployment = await loaded.deploy(
            name="one", work_pool_name="pool", build=False, push=False, print_next_steps=False, ignore_warnings=True,
            job_variables={"partition": os.environ.get("SLURM_PARTITION", "batch"), "cpu": 1, "memory": 1, "time_limit": 1,
                           "working_dir": folder, "source_files": [f"{folder}/activate"]})
        return await client.create_flow_run_from_deployment(deployment, parameters={"path": f"{folder}/out"})


async def work(run):
    """Runs the worker once, then waits for the end of the run: its state and job."""
    from prefect.client.orchestration import get_client
    from prefect_slurm.worker import SlurmWorker

    worker = SlurmWorker(work_pool_name="pool")
    await worker.start(run_once=True, printer=lambda text: None)
    async with get_client() as client:
        for _ in range(300):
            run = await client.read_flow_run(run.id)
            if run.state.is_final():
                break
            await asyncio.sleep(0.3)
    for _ in range(100):
        states = await worker._get_slurm_job_states([run.infrastructure_pid])
        if states[run.infrastructure_pid] not in ("PENDING", "RUNNING"):
            break
        await asyncio.sleep(0.2)
    return run.state.type.value, states[run.infrastructure_pid]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        port = free_port()
        set_environment(folder, port)
        pathlib.Path(folder, "hello_flow.py").write_text(FLOW, encoding="utf-8")
        pathlib.Path(folder, "activate").write_text(f'PATH="{os.path.dirname(sys.executable)}:$PATH"\n', encoding="utf-8")
        server = start_server(folder, port)
        try:
            run = asyncio.run(prepare(folder))
            flow_state, job_state = asyncio.run(work(run))
            out = pathlib.Path(folder, "out")
            text = out.read_text(encoding="utf-8") if out.exists() else None
        finally:
            server.terminate()
            server.wait(30)
    print(f"flow run: {flow_state}, job: {job_state}, output: {text!r}")
    same = (flow_state, job_state, text) == ("COMPLETED", "COMPLETED", "hello from a job\n")
    print("0 differences" if same else "DIFFERENT")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
