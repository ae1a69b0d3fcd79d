#!/usr/bin/env python3
"""pyslurmutils.py - pyslurmutils (PyPI) submits, watches and cancels jobs over REST

Needs the variables SLURM_URL, SLURM_TOKEN and SLURM_USER; SLURM_API_VERSION is the version to
use, or a list of versions separated by blanks (default: all that the client has models of and
that fluxq serves). Prints a line for each step; exit status 1 after a difference. Responses
that the client's models refuse are differences: the client logs them as warnings.
"""

import logging
import os
import sys
import tempfile
import time
import traceback

sys.path.pop(0)  # this folder, whose file has the name of the package
from pyslurmutils.client import SlurmScriptRestClient  # noqa: E402

VERSIONS = "v0.0.41 v0.0.42 v0.0.43 v0.0.44"


class Complaints(logging.Handler):
    """Keeps what the client warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def wait_for(client, job, states, seconds=60):
    """Waits until the job has one of the states: the last state."""
    deadline = time.monotonic() + seconds
    while True:
        state = client.get_status(job)
        if state in states or time.monotonic() > deadline:
            return state
        time.sleep(0.2)


def check(failures, what, got, wanted):
    ok = got == wanted
    print(f"{'ok' if ok else 'DIFFERENT'}: {what}: {got!r}" + ("" if ok else f", not {wanted!r}"))
    failures += [] if ok else [what]


def run(version, directory):
    failures = []
    client = SlurmScriptRestClient(api_version=version, log_directory=directory,
                                   parameters={"current_working_directory": directory})
    job = client.submit_script("echo hello $WHO", metadata={"by": "pyslurmutils"}, parameters={
        "name": "py utils", "environment": {"WHO": "there", "PATH": "/usr/bin:/bin"}, "time_limit": 5})
    check(failures, "end", wait_for(client, job, ("COMPLETED", "FAILED")), "COMPLETED")
    properties = client.get_job_properties(job)
    check(failures, "name", properties.name, "py utils")
    with open(properties.standard_output.replace("%j", str(job)), encoding="utf-8") as f:
        check(failures, "output", f.read(), "hello there\n")
    job = client.submit_script("sleep 1000")
    check(failures, "start", wait_for(client, job, ("RUNNING",)), "RUNNING")
    mine = [j.job_id for j in client.get_all_job_properties() if j.job_id == job]
    check(failures, "list", mine, [job])
    client.cancel_job(job)
    check(failures, "cancel", wait_for(client, job, ("CANCELLED",)), "CANCELLED")
    try:
        client.get_job_properties(999999999)
        check(failures, "unknown job", "answered", "refused")
    except Exception as error:  # the client's own type, chained
        text = "".join(traceback.format_exception(error))
        check(failures, "unknown job", "Invalid job id specified" in text, True)
    return failures


def main():
    complaints = Complaints()
    logging.getLogger("pyslurmutils").addHandler(complaints)
    failures = []
    for version in os.environ.pop("SLURM_API_VERSION", VERSIONS).split():
        print(f"# {version}")
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o777)
            failures += run(version, directory)
    for text in complaints.texts:
        print("WARNING:", text[:2000])
    print(f"{len(failures)} differences, {len(complaints.texts)} warnings")
    return 1 if failures or complaints.texts else 0


if __name__ == "__main__":
    sys.exit(main())
