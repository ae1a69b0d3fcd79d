"""The faults of a storm: one function a fault, and the control of t/storm/disk.c.

    faults = Faults (random, storm)      # storm: see t/storm/run
    kind = faults.strike ()              # one random fault; returns its name
    faults.end ()                        # what was stopped goes on, what was taken is given back

A disk fault is armed and strikes later, or never when the broker writes no more. faults.struck () counts those that
have struck.
"""
import mmap
import os
import resource
import signal
import socket
import struct
import threading

LAYOUT = struct.Struct("@IIiIIIQQ")  # struct control
WRITE, SYNC = 1, 2
# name: (kind in disk.c, calls)
DISK = {
    "kill-before-write": (1, WRITE), "kill-after-write": (2, WRITE), "kill-in-write": (3, WRITE),
    "kill-before-sync": (1, SYNC), "kill-after-sync": (2, SYNC),
    "eio-write": (4, WRITE), "eio-sync": (4, SYNC), "enospc-write": (5, WRITE),
    "short-write": (6, WRITE), "power-cut": (7, SYNC), "power-cut-write": (7, WRITE),
}
DISK_BAD = 3  # seconds: then calls of the disk succeed again. A request waits for that, at most 30 s
DEADLY = tuple(name for name, (kind, _) in DISK.items() if kind in (1, 2, 3, 7))


class Disk:
    def __init__(self, path):
        with open(path, "wb") as f:
            f.write(bytes(LAYOUT.size))
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), LAYOUT.size)

    def arm(self, name, countdown, times, seed):
        kind, calls = DISK[name]
        struck = self.struck()
        self.map[:4] = bytes(4)
        self.map[4:24] = struct.pack("@IiIII", calls, countdown, times, struck, seed)
        self.map[:4] = struct.pack("@I", kind)

    def disarm(self):
        self.map[:4] = bytes(4)

    def armed(self):
        return self.map[:4] != bytes(4)

    def struck(self):
        return struct.unpack("@I", self.map[16:20])[0]


class Faults:
    def __init__(self, random, storm):
        self.random = random
        self.storm = storm
        self.timers = []
        self.disk_name = None
        self.disk_struck = 0
        self.disk_armed = 0

    def strike(self):
        table = {self.disk: 12, self.kill: 2, self.freeze: 2, self.freeze_agent: 2, self.kill_agent: 2,
                 self.connection_cut: 2, self.descriptors: 1, self.clock: 1}
        return self.random.choices(list(table), table.values())[0]()

    def later(self, seconds, function, *args):
        timer = threading.Timer(seconds, function, args)
        timer.start()
        self.timers.append(timer)

    def end(self):
        self.storm.disk.disarm()
        for timer in self.timers:
            timer.join()

    # -- the faults: each returns its name, or None if there was nothing to strike --

    def disk(self):
        """Arms one fault of the disk; the name is counted when the fault strikes."""
        if self.storm.disk.armed():
            return None
        self.storm.tally()
        self.disk_name = self.random.choice(list(DISK))
        times = 1 if self.disk_name in DEADLY else self.random.choice((1, 1, 3, 20))
        self.storm.disk.arm(self.disk_name, self.random.randrange(1, 25), times,
                            self.random.randrange(1, 1 << 30))
        self.disk_armed += 1
        if times > 1:
            self.later(DISK_BAD, self.disk_recovers, self.disk_armed)
        return None

    def disk_recovers(self, number):
        if self.disk_armed == number:
            self.storm.disk.disarm()

    def struck(self):
        """(name, number) of the disk faults that have struck since the last call."""
        now = self.storm.disk.struck()
        number, self.disk_struck = now - self.disk_struck, now
        return self.disk_name, number

    def kill(self):
        self.storm.broker.process.kill()
        return "kill"

    def signal(self, pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def freeze(self):
        pid = self.storm.broker.process.pid
        self.signal(pid, signal.SIGSTOP)
        self.later(self.random.choice((0.02, 0.1, 0.3)), self.signal, pid, signal.SIGCONT)
        return "freeze-broker"

    def agent(self):
        agents = self.storm.agents()
        return self.random.choice(agents) if agents else None

    def freeze_agent(self):
        pid = self.agent()
        if pid is None:
            return None
        self.signal(pid, signal.SIGSTOP)
        self.later(self.random.choice((0.05, 0.3, 0.6)), self.signal, pid, signal.SIGCONT)
        return "freeze-agent"

    def kill_agent(self):
        pid = self.agent()
        if pid is None:
            return None
        self.signal(pid, signal.SIGKILL)
        return "kill-agent"

    def connection_cut(self):
        """A request that ends in its middle."""
        text = b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"version\": 1, "
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(1)
                s.connect(self.storm.broker.socket)
                s.sendall(text[:self.random.randrange(1, len(text))])
        except OSError:
            return None
        return "cut-connection"

    def descriptors(self):
        pid = self.storm.broker.process.pid
        try:
            used = len(os.listdir("/proc/%d/fd" % pid))
            _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (used, hard))
        except OSError:
            return None
        self.later(self.random.choice((0.1, 0.4)), self.give_back, pid, (hard, hard))
        return "no-descriptors"

    def give_back(self, pid, limit):
        try:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
        except OSError:
            pass

    def clock(self):
        """The clock of the next broker is wrong."""
        self.storm.clock_offset = self.random.choice((0, 0, -60, -5, 5, 60))
        self.storm.broker.process.kill()
        return "clock-jump"
