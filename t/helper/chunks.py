#!/usr/bin/env python3
"""chunks.py PORT: request bodies in chunks, valid and invalid, of clients that close; the broker must refuse
each of them after its head."""
import socket
import sys

HEAD = b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKS = (
    b"2;" + b"a" * 33000,
    b"2;",
    b"zz\r\n",
    b"5\r\nhello\r\n0\r\n" + b"T: x\r\n" * 9000,
)

for chunk in CHUNKS:
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(HEAD)
    answer = s.recv(12)
    assert answer == b"HTTP/1.1 411", answer
    try:
        s.sendall(chunk)
    except OSError:
        pass
    s.close()
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(HEAD + chunk)
    s.close()
