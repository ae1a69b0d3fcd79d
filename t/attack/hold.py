#!/usr/bin/env python3
"""hold.py SOCKET N: opens N connections at once; some are silent, some send a request byte by byte,
some announce a body that never comes, some follow a stream and never read. Prints "ready" when all have
tried, then goes on sending until it is killed. See t1091-attack.t."""
import socket
import sys
import time

LINE = b"GET /v1/jobs HTTP/1.1\r\nHost: fluxqd\r\nX-Slow: "
BODY = b"POST /v1/jobs HTTP/1.1\r\nHost: fluxqd\r\nContent-Length: 100000\r\n\r\n{"
WATCH = b"GET /v1/watch HTTP/1.1\r\nHost: fluxqd\r\n\r\n"


def begin(path, i):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(5)
    try:
        sock.connect(path)
        sock.sendall([b"", LINE, BODY, WATCH][i % 4])
    except OSError:
        return None
    return sock


def main():
    socks = [begin(sys.argv[1], i) for i in range(int(sys.argv[2]))]
    print("ready", len([s for s in socks if s]), flush=True)
    while True:
        for i, sock in enumerate(socks):
            if sock and i % 4 == 1:
                try:
                    sock.send(b"x")
                except OSError:
                    socks[i] = None
        time.sleep(0.2)


main()
