"""batchspawner: a JupyterHub starts a user's server as a batch job, reaches it, and ends it."""

import json
import os
import pwd
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

BIN = os.path.join(sys.prefix, "bin")
TOKEN = os.urandom(16).hex()
# The hub has no proxy: it reaches the server itself. All nodes are this machine, so the server's address is known.
CONFIG = """
import os

import batchspawner
from jupyterhub.proxy import Proxy
from traitlets import default


class Spawner(batchspawner.SlurmSpawner):
    @default("req_homedir")
    def _req_homedir_default(self):
        return os.getcwd()


class NoProxy(Proxy):
    should_start = False
    routes = {{}}

    async def add_route(self, routespec, target, data):
        self.routes[routespec] = {{"routespec": routespec, "target": target, "data": data}}

    async def delete_route(self, routespec):
        self.routes.pop(routespec, None)

    async def get_all_routes(self):
        return self.routes


c = get_config()
c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.hub_port = {port}
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.services = [{{"name": "test", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "test", "scopes": ["admin:users", "admin:servers"], "services": ["test"]}}]
c.JupyterHub.spawner_class = Spawner
c.SlurmSpawner.exec_prefix = ""
c.SlurmSpawner.batchspawner_singleuser_cmd = "{bin}/batchspawner-singleuser"
c.SlurmSpawner.req_partition = "batch"
c.SlurmSpawner.req_runtime = "5"
c.SlurmSpawner.req_memory = "200"
c.SlurmSpawner.state_exechost_exp = "127.0.0.1"
c.Spawner.cmd = ["{bin}/jupyterhub-singleuser"]
c.Spawner.args = ["--allow-root"]
c.Spawner.poll_interval = 2
c.Spawner.env_keep = [name for name in os.environ if name.startswith(("PATH", "HOME", "TMPDIR", "FLUXQ_", "SLURM_", "RECORD_"))]
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, method, path):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/hub/api/{path}", method=method, headers={"Authorization": f"token {TOKEN}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as e:
        raise RuntimeError(f"{method} {path}: {e.code} {e.read().decode()}") from e
    except OSError:
        return None


def wait(what, condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.5)


def main():
    user, port = pwd.getpwuid(os.getuid()).pw_name, free_port()
    with open("config.py", "w", encoding="utf-8") as f:
        f.write(CONFIG.format(port=port, token=TOKEN, bin=BIN))
    with open("hub.log", "wb") as log:
        hub = subprocess.Popen([f"{BIN}/jupyterhub", "-f", "config.py"], stdout=log, stderr=log)
    try:
        wait("hub", lambda: ask(port, "GET", ""))
        ask(port, "POST", f"users/{user}")
        ask(port, "POST", f"users/{user}/server")

        def servers():
            return ask(port, "GET", f"users/{user}")["servers"]

        wait("server", lambda: servers().get("", {}).get("ready"))
        print("server: ready")
        state = subprocess.run(
            ["squeue", "--me", "-h", "-o", "%j %T"], stdout=subprocess.PIPE, check=True, text=True
        ).stdout
        print("job:", state.strip())
        ask(port, "DELETE", f"users/{user}/server")
        wait("end of the server", lambda: not servers())
        wait(
            "end of the job",
            lambda: not subprocess.run(["squeue", "--me", "-h"], stdout=subprocess.PIPE, check=True).stdout,
        )
        print("server: gone")
    finally:
        hub.terminate()
        hub.wait(30)
        with open("hub.log", encoding="utf-8") as f:
            sys.stderr.write(f.read())


if __name__ == "__main__":
    main()
