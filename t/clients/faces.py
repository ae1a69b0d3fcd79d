"""The two sides of a comparison: a private fluxqd with virtual nodes, and a real Slurm; see t/clients/run."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
NODES = 4
FIRST_JOB = 1000  # with smaller numbers of jobs a transcript could not tell them from other numbers


class Unavailable(Exception):
    """The face cannot be started, and why."""


def clean_environment():
    """The caller's environment without the variables that act as options, or belong to a job or a desktop."""
    prefixes = (
        "FLUXQ_",
        "SLURM",
        "SBATCH_",
        "SQUEUE_",
        "SACCT_",
        "SINFO_",
        "SALLOC_",
        "SCANCEL_",
        "XDG_",
        "PYTHON",
        "VIRTUAL_ENV",
        "OMPI_",
        "PRTE_",
        "PMI",
    )
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def until(condition, seconds):
    """Waits until condition() is true; returns whether it is."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class Face:
    """What both sides have: a directory, the directory of the commands, an environment."""

    name = commands = ""
    has_rest = False

    def __init__(self, directory):
        self.directory = directory

    def scratch_names(self):
        """The names of jobs that do not belong into a transcript."""
        return ["placeholder"]

    def call(self, *argv, **settings):
        """Runs one of the face's commands; returns its output."""
        result = subprocess.run(
            [os.path.join(self.commands, argv[0]), *argv[1:]],
            env=self.env(),
            timeout=30,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **settings,
        )
        return result.stdout

    def cancel_all(self):
        """Cancels the jobs that a client has left, and waits for their end."""
        if self.call("squeue", "-h"):
            self.call("scancel", "--me")
            until(lambda: not self.call("squeue", "-h"), 60)


class Fluxq(Face):
    """fluxqd --local as the caller, with the programs of the build tree."""

    name = "fluxq"
    has_rest = True

    def __init__(self, directory):
        super().__init__(directory)
        build = os.environ.get("FLUXQ_BUILD_DIR")
        if not build:
            build = SOURCE if os.path.exists(os.path.join(SOURCE, "Makefile")) else os.path.join(SOURCE, "build")
        self.build = os.path.abspath(build)
        self.commands = os.path.join(self.build, "src/cmd/slurm")
        self.process = self.restd = self.address = None

    def env(self):
        env = clean_environment()
        path = [os.path.join(self.build, sub) for sub in ("src/cmd/slurm", "src/cmd", "src/shell")]
        env["PATH"] = ":".join(path + [env.get("PATH", "/usr/bin:/bin")])
        env["FLUXQ_BROKER"] = f"unix://{self.directory}/run/fluxqd.sock"
        return env

    def start(self):
        program = os.path.join(self.build, "src/broker/fluxqd")
        if not os.path.exists(program):
            raise Unavailable(f"nothing is built in {self.build} (set FLUXQ_BUILD_DIR)")
        os.makedirs(os.path.join(self.directory, "run"))
        self.write_configuration()
        log = os.path.join(self.directory, "log")
        with open(log, "wb") as f:
            self.process = subprocess.Popen(
                [
                    program,
                    f"--local={NODES}",
                    f"--config={self.directory}/fluxq.yaml",
                    f"--runtime-dir={self.directory}/run",
                    f"--state-dir={self.directory}/state",
                ],
                env=self.env(),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=f,
                stderr=subprocess.STDOUT,
            )
        path = os.path.join(self.directory, "run/fluxqd.sock")
        until(lambda: os.path.exists(path) or self.process.poll() is not None, 20)
        if not os.path.exists(path) or self.process.poll() is not None:
            self.stop()
            with open(log, encoding="utf-8", errors="replace") as f:
                raise Unavailable("fluxqd did not come up: " + f.read().strip())
        self.call("sbatch", "--hold", "--job-name=placeholder", f"--array=1-{FIRST_JOB}", "--wrap=true", cwd="/")
        self.cancel_all()

    def write_configuration(self):
        """fluxq.yaml, and the key of the tokens for REST."""
        key = os.path.join(self.directory, "key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
            f.write(os.urandom(64))
        with open(os.path.join(self.directory, "fluxq.yaml"), "w", encoding="utf-8") as f:
            f.write(f"token-key: {key}\n")

    def rest(self):
        """The variables of clients of Slurm's REST interface."""
        if not self.restd:
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                self.address = f"127.0.0.1:{s.getsockname()[1]}"
            with open(os.path.join(self.directory, "rest.log"), "wb") as f:
                self.restd = subprocess.Popen(
                    [os.path.join(self.build, "src/rest/slurmrestd"), "--tls=off", self.address],
                    env=self.env(),
                    start_new_session=True,
                    stdin=subprocess.DEVNULL,
                    stdout=f,
                    stderr=f,
                )
            if not until(self.rest_listens, 20):
                raise Unavailable("slurmrestd did not come up")
        token = self.call("scontrol", "token").strip().partition("=")[2]
        return {
            "SLURM_URL": f"http://{self.address}",
            "SLURM_TOKEN": token,
            "SLURM_USER": pwd.getpwuid(os.getuid()).pw_name,
        }

    def rest_listens(self):
        host, port = self.address.split(":")
        with socket.socket() as s:
            return s.connect_ex((host, int(port))) == 0

    def stop(self):
        if self.restd:
            self.restd.terminate()
            self.restd.wait()
        if not self.process:
            return
        if self.process.poll() is None:
            self.cancel_all()
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self.process = None


class RealSlurm(Face):
    """Debian's Slurm, by t/clients/slurm."""

    name = "slurm"
    script = os.path.join(HERE, "slurm")
    commands = "/usr/bin"

    def env(self):
        env = clean_environment()
        env["PATH"] = self.commands + ":" + env.get("PATH", "/usr/bin:/bin")
        env["SLURM_CONF"] = os.path.join(self.directory, "slurm.conf")
        return env

    def start(self):
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        if not shutil.which("slurmctld", path=path):
            raise Unavailable("it is not installed (slurm-wlm slurmdbd mariadb-server munge iproute2)")
        result = subprocess.run(
            [self.script, "start", self.directory, str(NODES)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if result.returncode:
            raise Unavailable(result.stdout.strip())

    def stop(self):
        subprocess.run([self.script, "stop", self.directory], stdin=subprocess.DEVNULL, check=False)
