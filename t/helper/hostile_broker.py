"""What fluxq-launch answers to a broker that another has taken over.

usage: hostile_broker.py FLUXQ-LAUNCH FLUXQ-SHELL OWNER-UID USER-UID

Prints one line for each request: its name, the errno's name or "done".
"""
import array
import errno
import os
import signal
import socket
import struct
import subprocess
import sys

PATH = 4096
HELLO, CGROUP, AGENT, ADMIN, FILES, SIGNAL = 1, 2, 3, 4, 5, 6
program, shell, owner, user = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


def request(op, uid=user, signum=0, version=1, launch=b"/x", key=b"/x"):
    head = struct.pack("=IIIiQII", version, op, uid, signum, 7, 0, 0)
    return head + launch.ljust(PATH, b"\0")[:PATH] + key.ljust(PATH, b"\0")[:PATH]


def start():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    high = os.dup2(theirs.fileno(), 50)
    child = subprocess.Popen([program, "--shell", shell, "--owner", str(owner), "--min-uid", "1000",
                              "--admin", "/bin/true"],
                             preexec_fn=lambda: os.dup2(high, 3), close_fds=False)
    theirs.close()
    os.close(high)
    return child, ours


def ask(sock, record, fd=None):
    extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd is not None else []
    sock.sendmsg([record], extra)
    answer, _, _, _ = sock.recvmsg(1024, 64)
    code = struct.unpack("=i", answer[:4])[0]
    return "done" if code == 0 else errno.errorcode[-code]


child, sock = start()
sock.settimeout(10)
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
end = pair[0].fileno()
victim = subprocess.Popen(["sleep", "100"])  # a process of root's
mine = subprocess.Popen(["sleep", "100"], user=user)
exits = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
stream = socket.socketpair()
null = os.open("/dev/null", os.O_RDWR)
asked = [
    ("a greeting without a socket", request(HELLO), None),
    ("a greeting with a file", request(HELLO), os.open("/dev/null", os.O_RDONLY)),
    ("a greeting with a stream", request(HELLO), stream[0].fileno()),
    ("a greeting", request(HELLO), exits[0].fileno()),
    ("another greeting", request(HELLO), exits[0].fileno()),
    ("cgroups in /tmp", request(CGROUP), os.open("/tmp", os.O_RDONLY)),
    ("cgroups in a file", request(CGROUP), os.open("/dev/null", os.O_RDONLY)),
    ("agent of root", request(AGENT, uid=0), None),
    ("agent of a system user", request(AGENT, uid=999), None),
    ("agent of the broker's user", request(AGENT, uid=owner), None),
    ("agent of uid -1", request(AGENT, uid=0xFFFFFFFF), None),
    ("files of root", request(FILES, uid=0), end),
    ("files without a socket", request(FILES), None),
    ("a path without an end", request(AGENT, launch=b"x" * PATH), None),
    ("another version", request(AGENT, version=9), None),
    ("another operation", request(99), None),
    ("a short record", request(AGENT)[:100], None),
    ("a long record", request(AGENT) + b"x", None),
    ("an empty-looking record", b"\0", None),
    ("a program that is no prolog", request(ADMIN, launch=b"/bin/sh", signum=9), null),
    ("a prolog without a file for its report", request(ADMIN, launch=b"/bin/true", signum=9, key=b""), None),
    ("a prolog with LD_PRELOAD", request(ADMIN, launch=b"/bin/true", signum=9, key=b"FLUXQ_A=1\0LD_PRELOAD=/x"), null),
    ("a prolog with variables without an end", request(ADMIN, launch=b"/bin/true", signum=9, key=b"FLUXQ_A=1\0FLUXQ_B=" + b"x" * PATH), null),
    ("a prolog without a time limit", request(ADMIN, launch=b"/bin/true", key=b"FLUXQ_A=1"), null),
    ("a prolog", request(ADMIN, launch=b"/bin/true", signum=9, key=b"FLUXQ_A=1"), null),
    ("a signal without a process", request(SIGNAL, signum=9), None),
    ("a signal to root's process", request(SIGNAL, signum=9), os.pidfd_open(victim.pid)),
    ("a signal to init", request(SIGNAL, signum=9), os.pidfd_open(1)),
    ("a signal to fluxq-launch", request(SIGNAL, signum=9), os.pidfd_open(child.pid)),
    ("a signal to a file", request(SIGNAL, signum=9), os.open("/dev/null", os.O_RDONLY)),
    ("a signal to a user's process", request(SIGNAL, signum=signal.SIGTERM), os.pidfd_open(mine.pid)),
]
for name, record, fd in asked:
    print(f"{name}: {ask(sock, record, fd)}")
print("root's process runs:", victim.poll() is None)
print("the user's process has ended:", mine.wait(10) == -signal.SIGTERM)
victim.kill()
victim.wait()
sock.close()
print("fluxq-launch has ended:", child.wait(10) == 0)
