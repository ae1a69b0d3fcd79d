"""A client of a job's agents, through the broker (POST /v1/jobs/ID/connect), for t2120 and t4100.

    relay.py run JOB COMMAND...          runs a step; passes its output and exit status
    relay.py input JOB COMMAND...        runs a step; stdin goes to its tasks
    relay.py signal JOB SIGNAL COMMAND...    runs a step; sends SIGNAL after its first output
    relay.py hold JOB COMMAND...         prints "started", then "closed" when the other side ends
    relay.py refused JOB [HEADER...]     prints status and code of the refusal
    relay.py many JOB N                  opens N connections at once; prints the count of each status
    relay.py garbage JOB                 sends each kind of invalid data: the connection must be closed
    relay.py half JOB COMMAND...         shuts its side down: the other side must end, too
    relay.py slow JOB PID MIB            takes credit and does not read: PID must not grow much
    relay.py flood JOB PID MIB           sends input that no task reads: PID must not grow much, and the step ends

The messages are those of src/shell/io/wire.h and step_spec.h. Steps run in $RELAY_CWD (default: here). All
waits have a deadline.
"""
import collections
import json
import os
import socket
import struct
import sys
import threading
import time

DEADLINE = 60.0
RUN, INPUT, USED, SIGNAL = 96, 97, 98, 99
STARTED, OUTPUT, EXIT, NOTE, TAKEN, END = 101, 102, 103, 104, 105, 106
UPGRADE = ("Connection: Upgrade", "Upgrade: fluxq")
GROWTH_MAX = 16  # MiB
INPUT_WINDOW = 256 * 1024


def request(job, headers=UPGRADE):
    """(socket, status, body so far)"""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(DEADLINE)
    sock.connect(os.environ["FLUXQ_BROKER"].replace("unix://", ""))
    lines = ["POST /v1/jobs/%s/connect HTTP/1.1" % job, "Host: fluxqd", "Content-Length: 0"]
    sock.sendall("\r\n".join(lines + list(headers) + ["", ""]).encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        if not byte:
            raise SystemExit("the broker closed before it answered: %r" % head)
        head += byte
    return sock, int(head.split()[1]), head


def refusal(sock, head):
    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(length[0].split(b":")[1])
    body = b""
    while len(body) < length:
        body += sock.recv(length - len(body))
    if b"application/problem+json" not in head:
        raise SystemExit("no problem: %r" % head)
    return json.loads(body)


class Client:
    def __init__(self, job):
        self.sock, status, head = request(job)
        if status != 101:
            raise SystemExit("%d %s" % (status, refusal(self.sock, head)))
        self.buf = b""

    def send(self, kind, data=b"", stream=0):
        self.sock.sendall(struct.pack("<BBHIII", kind, stream, 0, 0, 0, len(data)) + data)

    def start(self, command, **fields):
        fields = dict(cwd=os.environ.get("RELAY_CWD") or os.getcwd(), ntasks=1, **fields)
        records = list(fields.items()) + [("arg", a) for a in command]
        records += [("env", "PATH=" + os.environ["PATH"])]
        text = b""
        for name, value in records:
            value = str(value).encode()
            text += b"%s %d\n%s\n" % (name.encode(), len(value), value)
        self.send(RUN, text, 1)

    def read(self):
        """(type, stream, data) or None at the end."""
        while True:
            if len(self.buf) >= 16:
                kind, stream, _, _, _, size = struct.unpack_from("<BBHIII", self.buf)
                if len(self.buf) >= 16 + size:
                    data = self.buf[16:16 + size]
                    self.buf = self.buf[16 + size:]
                    return kind, stream, data
            try:
                more = self.sock.recv(1 << 20)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self.buf += more

    def until(self, wanted):
        while True:
            message = self.read()
            if message is None:
                raise SystemExit("the connection ended before message %d" % wanted)
            if message[0] == END != wanted:
                raise SystemExit("the step ended: %r" % (message,))
            if message[0] == wanted:
                return message

    def follow(self, on_output=None, source=None):
        """Reads to the end of the step; returns its wait status. source: the input of its tasks."""
        room = INPUT_WINDOW
        while True:
            while source and room > 0:
                data = source.read(min(room, 65536))
                self.send(INPUT, data)
                room -= len(data)
                source = source if data else None
            message = self.read()
            if message is None:
                raise SystemExit("the connection ended before the step")
            kind, stream, data = message
            if kind == OUTPUT:
                out = sys.stdout if stream == 1 else sys.stderr
                out.buffer.write(data[4:])
                out.flush()
                self.send(USED, struct.pack("<II", 0, len(data) - 4))
                if on_output:
                    on_output()
                    on_output = None
            elif kind == TAKEN:
                room += struct.unpack("<I", data)[0]
            elif kind == NOTE:
                print("note: %s" % data.decode(), file=sys.stderr)
            elif kind == END:
                if len(data) > 4:
                    print("why: %s" % data[4:].decode(), file=sys.stderr)
                return struct.unpack_from("<I", data)[0]


def leave(status):
    raise SystemExit(status >> 8 if status & 0x7f == 0 else 128 + (status & 0x7f))


def run(job, *command):
    client = Client(job)
    client.start(command)
    leave(client.follow())


def give_input(job, *command):
    client = Client(job)
    client.start(command, input=1)
    client.until(STARTED)
    leave(client.follow(source=sys.stdin.buffer))


def give_signal(job, number, *command):
    client = Client(job)
    client.start(command)
    leave(client.follow(lambda: client.send(SIGNAL, struct.pack("<I", int(number)))))


def hold(job, *command):
    client = Client(job)
    client.start(command)
    client.until(STARTED)
    print("started", flush=True)
    while client.read() is not None:
        pass
    print("closed", flush=True)


def refused(job, *headers):
    sock, status, head = request(job, headers or UPGRADE)
    print(status, refusal(sock, head)["code"] if status != 101 else "")


def many(job, count):
    results = [None] * int(count)

    def one(i):
        results[i] = request(job)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for status, times in sorted(collections.Counter(r[1] for r in results).items()):
        print(status, times)


def garbage(job):
    frame = struct.pack("<BBHIII", RUN, 0, 0, 0, 0, 1 << 30)
    gone = struct.pack("<BBHIII", 100, 0, 0, 0, 0, 0)
    for data in b"GET / HTTP/1.1\r\n\r\n", b"\0" * 16, b"\xff" * 100000, frame, gone:
        client = Client(job)
        try:
            client.sock.sendall(data)
        except OSError:
            pass
        if client.read() is not None:
            raise SystemExit("an answer to %r" % data[:20])
    print("closed")


def half(job, *command):
    client = Client(job)
    client.start(command)
    client.until(STARTED)
    client.sock.shutdown(socket.SHUT_WR)
    while client.read() is not None:
        pass
    print("closed")


def resident(pid):
    with open("/proc/%s/statm" % pid) as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def slow(job, pid, mib):
    size = int(mib) << 20
    mark = os.path.join(os.getcwd(), "written")
    client = Client(job)
    client.start(["sh", "-c", 'head -c %d /dev/zero; >"%s"' % (size, mark)])
    client.until(STARTED)
    before = resident(pid)
    client.send(USED, struct.pack("<II", 0, size))  # false: nothing was read
    deadline = time.monotonic() + DEADLINE
    while not os.path.exists(mark):
        if time.monotonic() > deadline:
            raise SystemExit("the task has not written all")
        time.sleep(0.02)
    grown = resident(pid) - before
    got = 0
    while True:
        kind, _, data = client.read()
        if kind == OUTPUT:
            got += len(data) - 4
        elif kind == END:
            break
    print(got)
    if grown > GROWTH_MAX:
        raise SystemExit("process %s grew by %d MiB" % (pid, grown))


def flood(job, pid, mib):
    client = Client(job)
    client.start(["sleep", "1000"], input=1)
    client.until(STARTED)
    before = resident(pid)
    for _ in range(int(mib) * 16):
        client.send(INPUT, b"\0" * 65536)
    client.follow()
    grown = resident(pid) - before
    if grown > GROWTH_MAX:
        raise SystemExit("process %s grew by %d MiB" % (pid, grown))


COMMANDS = {"run": run, "input": give_input, "signal": give_signal, "hold": hold, "many": many,
            "refused": refused, "garbage": garbage, "half": half, "slow": slow, "flood": flood}
COMMANDS[sys.argv[1]](*sys.argv[2:])
