#!/usr/bin/python3
"""tlsstorm.py PORT PID - clients of a broker's TLS port that break off at every stage

Reads site.crt, root.crt and root.key in the current directory. Fails if a good request fails meanwhile, or if
the process PID has more descriptors afterwards than before, after a wait for those that close late.
"""
import os
import random
import socket
import ssl
import struct
import sys
import threading
import time

PORT, PID = int(sys.argv[1]), sys.argv[2]
THREADS, TURNS, DEADLINE = 12, 25, 60
REQUEST = b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n"

context = ssl.create_default_context(cafile="site.crt")
context.load_cert_chain("root.crt", "root.key")


def tcp():
    s = socket.create_connection(("127.0.0.1", PORT))
    s.settimeout(20)
    return s


def tls():
    return context.wrap_socket(tcp(), server_hostname="127.0.0.1")


def leave(s):
    if random.random() < 0.5:  # with a reset
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def by_hand():
    """A handshake over buffers: the SSL object, and what it reads and writes."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    return context.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1"), incoming, outgoing


def says_nothing():
    s = tcp()
    time.sleep(random.random() / 4)
    leave(s)


def breaks_off_the_hello():
    o, _, outgoing = by_hand()
    try:
        o.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outgoing.read()
    s = tcp()
    s.sendall(hello[: random.randrange(1, len(hello) + 1)])
    leave(s)


def speaks_no_tls():
    s = tcp()
    s.sendall(b"\xff" + os.urandom(random.randrange(1, 3000)))
    leave(s)


def is_refused_in_http():
    s = tcp()
    s.sendall(REQUEST)
    assert b"needs-tls" in s.recv(1000)
    s.close()


def is_served():
    s = tls()
    s.sendall(REQUEST)
    assert b" 200 " in s.recv(1000)
    s.close()


def changes_a_record():
    o, incoming, outgoing = by_hand()
    s = tcp()
    while True:
        try:
            o.do_handshake()
            break
        except ssl.SSLWantReadError:
            s.sendall(outgoing.read())
            incoming.write(s.recv(65536))
    s.sendall(outgoing.read())
    o.write(REQUEST)
    record = bytearray(outgoing.read())
    record[random.randrange(5, len(record))] ^= 1
    s.sendall(record)
    while data := s.recv(65536):  # tickets and an alert, and no answer
        assert b"HTTP" not in data
    s.close()


def breaks_off_a_body():
    s = tls()
    s.sendall(b"POST /v1/cancel HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + b"x" * random.randrange(500000))
    leave(s)


def follows_for_a_moment():
    s = tls()
    s.sendall(b"GET /v1/watch HTTP/1.1\r\nHost: a\r\n\r\n")
    s.recv(100)
    leave(s)


def reads_no_answers():
    s = tls()
    s.settimeout(0.2)
    try:
        for _ in range(300):
            s.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: a\r\n\r\n" * 20)
    except OSError:
        pass
    leave(s)


MUST_WORK = [is_refused_in_http, is_served]
ACTS = MUST_WORK + [says_nothing, breaks_off_the_hello, speaks_no_tls, changes_a_record, breaks_off_a_body,
                    follows_for_a_moment, reads_no_answers]
faults = []


def work(first):
    for i in range(TURNS):
        act = ACTS[(first + i) % len(ACTS)]
        try:
            act()
        except AssertionError as e:
            faults.append(f"{act.__name__}: {e!r}")
        except OSError as e:  # a client that breaks off may be cut off first
            if act in MUST_WORK:
                faults.append(f"{act.__name__}: {e!r}")


def descriptors():
    return len(os.listdir(f"/proc/{PID}/fd"))


is_served()
before = descriptors()
threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
until = time.monotonic() + DEADLINE
while descriptors() > before and time.monotonic() < until:
    time.sleep(0.2)
print(f"descriptors: {before} before, {descriptors()} after; faults: {faults}")
sys.exit(bool(faults) or descriptors() > before)
