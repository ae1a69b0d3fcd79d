"""Installs the packages of a client into an environment of its own; see t/clients/run."""

import hashlib
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    """The packages cannot be installed, and why."""


def section(name):
    """The lines of the client's section in `requirements`."""
    lines, now = [], None
    with open(os.path.join(HERE, "requirements"), encoding="utf-8") as f:
        for line in f:
            line = line.partition("#")[0].strip()
            if line.startswith("["):
                now = line.strip("[]")
            elif line and now == name:
                lines.append(line)
    return lines


def run(*argv):
    result = subprocess.run(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if result.returncode:
        errors = re.findall(r"^ERROR: .*", result.stdout, re.M) or result.stdout.strip().splitlines()[-3:]
        raise Failed(" ".join(errors))


def install(name, cache):
    """Returns the directory of the client's environment (None: no packages) and the version of the first package.

    The name of the directory has a hash of the packages, so that new versions make a new environment."""
    wanted = section(name)
    if not wanted:
        return None, "-"
    version = wanted[0].partition("==")[2]
    digest = hashlib.sha256("\n".join([sys.version] + wanted).encode()).hexdigest()[:12]
    venv = os.path.join(os.path.abspath(cache), f"{name}-{digest}")
    if not os.path.exists(os.path.join(venv, "complete")):
        shutil.rmtree(venv, ignore_errors=True)
        run(sys.executable, "-m", "venv", venv)
        run(
            os.path.join(venv, "bin/python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *wanted,
        )
        with open(os.path.join(venv, "complete"), "wb"):
            pass
    return venv, version
