"""The jobs of a run: a record for each, kept up to date from the pods' changes in the API server.

    board = Board(gangs, pods_each)
    board.pod(gang, name, bound=True, ready=False, ended=False, pending=True)    # as often as it changes
    board.pod_gone(gang, name)
    board.tick()                    # called regularly: detects gangs that are half started for too long

All times are time.monotonic(). A gang is half started from its first pod that has a node until all of its
pods are ready, or none has a node any more.
"""
import random
import time

HALF_LIMIT = 2.0  # seconds after which a half-started gang counts


def work_times(n, mean, seed):
    """Seconds of work of each of n gangs: mean, more or less a half."""
    chance = random.Random(seed)
    return [mean * chance.uniform(0.5, 1.5) for _ in range(n)]


class Gang:
    def __init__(self, number, work):
        self.number = number
        self.name = "gang-%04d" % number
        self.work = work
        self.submitted = self.made = self.all_made = self.bound = self.all_bound = None
        self.ready = self.finishing = self.ended = None
        self.result = None  # "completed" or "failed"
        self.why = ""       # the reason of a failure
        self.starts = 0     # how often all pods became ready
        self.half_since = None
        self.half_longest = 0.0
        self.pods = {}      # name: (bound, ready, ended, pending)
        self.running = {}   # index: names of its running pods


class Board:
    def __init__(self, gangs, pods_each):
        self.gangs = gangs
        self.pods_each = pods_each
        self.pending = 0
        self.half = set()
        self.most_pending = self.most_half = self.most_half_long = 0
        self.bindings = []  # the time of each binding
        self.twice = set()  # (gang's name, index) with two pods that ran at the same time

    # Updates a pod; returns True if the gang has become ready with it.

    def pod(self, gang, name, bound, ready, ended, pending):
        before = gang.pods.get(name, (False, False, False, False))
        gang.pods[name] = (bound, ready, ended, pending)
        if bound and not before[0]:
            self.bindings.append(time.monotonic())
        self.pending += pending - before[3]
        self.most_pending = max(self.most_pending, self.pending)
        return self.look(gang)

    def pod_runs(self, gang, index, name, runs):
        """A pod that is being deleted also runs until it has ended or is gone."""
        names = gang.running.setdefault(index, set())
        if runs:
            names.add(name)
        else:
            names.discard(name)
        if len(names) > 1:
            self.twice.add((gang.name, index))

    def pod_gone(self, gang, name):
        if name in gang.pods:
            self.pending -= gang.pods.pop(name)[3]
            self.look(gang)

    def look(self, gang):
        now = time.monotonic()
        if gang.finishing or gang.ended:
            self.set_half(gang, False, now)
            return False
        bound = sum(p[0] and not p[2] for p in gang.pods.values())
        ready = sum(p[1] and not p[2] for p in gang.pods.values())
        if gang.made is None:
            gang.made = now
        if len(gang.pods) == self.pods_each and gang.all_made is None:
            gang.all_made = now
        if bound and gang.bound is None:
            gang.bound = now
        if bound == self.pods_each and gang.all_bound is None:
            gang.all_bound = now
        if ready < self.pods_each:
            self.set_half(gang, bound > 0, now)
            if gang.ready is not None and not bound:
                gang.ready = None  # it ended before its work was done, and starts again
            return False
        self.set_half(gang, False, now)
        if gang.ready is not None:
            return False
        gang.ready = now
        gang.starts += 1
        return True

    def set_half(self, gang, half, now):
        if half and gang.half_since is None:
            gang.half_since = now
            self.half.add(gang)
            self.most_half = max(self.most_half, len(self.half))
        elif not half and gang.half_since is not None:
            gang.half_longest = max(gang.half_longest, now - gang.half_since)
            gang.half_since = None
            self.half.discard(gang)

    def tick(self):
        now = time.monotonic()
        long = sum(now - g.half_since > HALF_LIMIT for g in self.half)
        self.most_half_long = max(self.most_half_long, long)

    # The end.

    def end(self, gang, result, why=""):
        if gang.ended is not None:
            return
        gang.ended = time.monotonic()
        gang.result, gang.why = result, why
        self.set_half(gang, False, gang.ended)

    def all_ready(self):
        return all(g.ready is not None for g in self.gangs)

    def left(self):
        return sum(g.ended is None for g in self.gangs)


def _percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else None


def median(values):
    return _percentile(values, 0.5)


def binding_rates(times):
    """(rate from the first to the last; rate in the best second)."""
    best = first = 0
    for last, when in enumerate(times):
        while when - times[first] > 1:
            first += 1
        best = max(best, last - first + 1)
    return (len(times) - 1) / max(times[-1] - times[0], 1e-3), best


def summary(board, places):
    """The figures of a run. places: the number of pods that fit at once."""
    gangs = board.gangs
    done = [g for g in gangs if g.result == "completed"]
    begin = min(g.submitted for g in gangs)
    end = max(g.ended or time.monotonic() for g in gangs)
    bound = sum(g.work for g in gangs) * board.pods_each / places
    useful = sum(g.work for g in done) * board.pods_each / places
    waits = [g.ready - g.submitted for g in done]
    now = time.monotonic()
    half = [max(g.half_longest, now - g.half_since if g.half_since else 0) for g in gangs]
    return {
        "jobs": len(gangs),
        "completed": len(done),
        "failed": sum(g.result == "failed" for g in gangs),
        "unended": board.left(),
        "restarted": sum(g.starts > 1 for g in gangs),
        "twice": len(board.twice),
        "bound_s": bound,
        "makespan_s": end - begin,
        "ratio": (end - begin) / bound if len(done) == len(gangs) else None,
        "useful": useful / (end - begin),
        "wait_mean_s": sum(waits) / len(waits) if waits else None,
        "wait_p95_s": _percentile(waits, 0.95),
        "most_pending": board.most_pending,
        "most_half": board.most_half,
        "most_half_long": board.most_half_long,
        "half_long_jobs": sum(h > HALF_LIMIT for h in half),
        "half_longest_s": max(half),
        "half_at_end": len(board.half),
        "make_s": median([g.all_made - g.made for g in done]),
        "bind_s": median([g.all_bound - g.bound for g in done]),
        "ready_s": median([g.ready - g.all_bound for g in done]),
        "notice_s": median([g.ended - g.finishing for g in done]),
        "why": sorted({g.why for g in gangs if g.why})[:5],
    }
