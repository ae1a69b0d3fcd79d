"""cutter.py SOCKET BYTES: a way to the broker at $FLUXQ_BROKER that breaks off once.

The first connection ends after BYTES bytes of the broker's answer, the second is complete. Exits after it, with 0
if the answer was longer than BYTES.
"""
import os
import socket
import sys

DEADLINE = 60.0


def pass_on(client, most):
    """Passes a request and at most `most` bytes of its answer; returns the number of bytes."""
    broker = socket.socket(socket.AF_UNIX)
    broker.settimeout(DEADLINE)
    broker.connect(os.environ["FLUXQ_BROKER"].replace("unix://", ""))
    head = b""
    while b"\r\n\r\n" not in head:
        head += client.recv(65536)
    broker.sendall(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    passed = 0
    while passed < most:
        data = broker.recv(min(65536, most - passed))
        if not data:
            break
        client.sendall(data)
        passed += len(data)
    client.close()
    broker.close()
    return passed


def main():
    path, most = sys.argv[1], int(sys.argv[2])
    listener = socket.socket(socket.AF_UNIX)
    listener.settimeout(DEADLINE)
    listener.bind(path)
    listener.listen(8)
    cut = pass_on(listener.accept()[0], most)
    pass_on(listener.accept()[0], 1 << 30)
    os.unlink(path)
    sys.exit(0 if cut == most else 1)


main()
