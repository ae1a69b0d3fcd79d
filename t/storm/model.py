"""The model of the queue: takes the history of a storm and returns the violations of its rules.

A history is a list of records (dicts) in the order in which they happened. The runner and the jobs
append to one file, so the order holds across processes. Records by "kind":

    submit   key, job (id, or None when refused), nodes, cores, requeue, held, after ([scheme, id]...),
             exit, limit                        the answer to a submit, maybe after several tries
    call     action, job                        an action is about to be sent
    answer   action, job, done                  its answer; done: the broker says that it is on disk
    seen     job, state, events (names)         what a client has read
    start    job, rank, pid, node, cores (RFC 22)   a task begins
    end      job, rank, pid, code               a task ends by itself with this exit code
    clash    job, rank, node, core, with        a task of a living process holds this core already
    twice    job, rank                          the same task of the job lives already
    fault    fault                              remark
    listed   jobs                               ids of all jobs, at the end
    final    job, state, exit_code, events      at the end; events: [name...]
    left     cores_used, processes              at the end

check() returns a list of (index of the record, rule, text). It reads nothing else, no clock and no broker.
"""
import collections

FINISHED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY",
            "PREEMPTED", "DEADLINE")
REMARKS = ("memo", "usage", "fluxq-restart", "urgency", "jobspec-update", "resource-update")
ACKNOWLEDGED = {"cancel": "exception", "requeue": "requeue", "hold": "urgency",
                "release": "urgency", "urgency": "urgency", "memo": "memo"}
# (state, event): next state. "-" is before submit; a requeued job's clean leads back to PRIORITY.
EDGES = {
    ("-", "submit"): "NEW",
    ("NEW", "validate"): "DEPEND",
    ("NEW", "exception"): "CLEANUP",
    ("DEPEND", "depend"): "PRIORITY",
    ("DEPEND", "exception"): "CLEANUP",
    ("PRIORITY", "priority"): "SCHED",
    ("PRIORITY", "exception"): "CLEANUP",
    ("SCHED", "priority"): "SCHED",
    ("SCHED", "alloc"): "RUN",
    ("SCHED", "exception"): "CLEANUP",
    ("RUN", "start"): "RUN",
    ("RUN", "finish"): "CLEANUP",
    ("RUN", "requeue"): "CLEANUP",
    ("RUN", "exception"): "CLEANUP",
    ("CLEANUP", "exception"): "CLEANUP",
    ("CLEANUP", "finish"): "CLEANUP",
    ("CLEANUP", "release"): "CLEANUP",
    ("CLEANUP", "free"): "CLEANUP",
    ("CLEANUP", "clean"): "INACTIVE",
}


def ids_of(text):
    """The numbers of an idset: "0-2,5" gives {0, 1, 2, 5}."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


class Model:
    def __init__(self, history):
        self.history = history
        self.violations = []
        self.submits = {}  # job id: (index, record)
        self.finals = {}
        self.starts = collections.defaultdict(list)  # (job, rank): indexes
        self.ends = collections.defaultdict(list)
        for at, record in enumerate(history):
            self.file(at, record)

    def file(self, at, record):
        kind, job = record["kind"], record.get("job")
        if kind == "submit" and job is not None:
            self.submits.setdefault(job, (at, record))
        elif kind == "final":
            self.finals[job] = (at, record)
        elif kind == "start":
            self.starts[job, record["rank"]].append(at)
        elif kind == "end":
            self.ends[job, record["rank"]].append(at)

    def of(self, *kinds):
        return [(at, r) for at, r in enumerate(self.history) if r["kind"] in kinds]

    def wrong(self, at, rule, text, *values):
        self.violations.append((at, rule, text % values))

    def last_end(self, job):
        """Index of the last sign of the job's tasks; -1 if no task began."""
        return max((at for table in (self.starts, self.ends) for (j, _), list_ in table.items()
                    if j == job for at in list_), default=-1)

    # -- rules: each looks at the whole history --

    def accepted_is_kept(self):
        for job, (at, record) in self.submits.items():
            if job not in self.finals:
                self.wrong(at, "kept", "job %d (key %s) was accepted and is gone", job, record["key"])

    def ids_are_unique(self):
        keys, jobs = {}, {}
        for at, record in self.of("submit"):
            job, key = record["job"], record["key"]
            if job is None:
                continue
            if jobs.setdefault(job, key) != key:
                self.wrong(at, "unique", "job id %d for keys %s and %s", job, jobs[job], key)
            if keys.setdefault(key, job) != job:
                self.wrong(at, "unique", "key %s gave jobs %d and %d", key, keys[key], job)
        for at, record in self.of("listed"):
            for job in sorted(set(record["jobs"]) - set(self.submits)):
                self.wrong(at, "unique", "nobody has submitted job %d", job)
            if len(set(record["jobs"])) != len(record["jobs"]):
                self.wrong(at, "unique", "a job is listed twice")

    def nothing_runs_twice(self):
        for at, record in self.of("twice"):
            self.wrong(at, "twice", "rank %d of job %d runs twice at a time", record["rank"], record["job"])
        for (job, rank), starts in self.starts.items():
            if job not in self.submits:
                self.wrong(starts[0], "twice", "job %d runs, and nobody has submitted it", job)
                continue
            allowed = 1
            if job in self.finals:
                allowed += self.finals[job][1]["events"].count("requeue")
            if not self.submits[job][1]["requeue"]:
                asked = [r for _, r in self.of("call")
                         if r["action"] == "requeue" and r["job"] == job]
                allowed = min(allowed, 1 + len(asked))
            if len(starts) > allowed:
                self.wrong(starts[allowed], "twice", "rank %d of job %d ran %d times, %d allowed", rank, job,
                           len(starts), allowed)
            for end in self.ends[job, rank][:1]:
                if starts[-1] > end and allowed == 1:
                    self.wrong(starts[-1], "twice", "job %d began again after its end", job)

    def dependencies_hold(self):
        for job, (_, record) in self.submits.items():
            starts = self.starts[job, 0]
            for scheme, other in record["after"]:
                if not starts or other not in self.finals:
                    continue
                state = self.finals[other][1]["state"]
                if scheme == "after":
                    if "start" not in self.finals[other][1]["events"]:
                        self.wrong(starts[0], "order", "job %d ran before job %d began", job, other)
                    continue
                if self.last_end(other) > starts[0]:
                    self.wrong(starts[0], "order", "job %d ran before the end of job %d", job, other)
                if scheme == "afterok" and state != "COMPLETED" or (
                        scheme == "afternotok" and state == "COMPLETED"):
                    self.wrong(starts[0], "order", "job %d ran, %s:%d, which ended as %s", job, scheme, other,
                               state)

    def units_are_given_once(self):
        for at, record in self.of("clash"):
            self.wrong(at, "units", "core %s of %s has job %d and %s", record["core"], record["node"],
                       record["job"], record["with"])
        holders = {}
        ended = {(r["job"], r["rank"], r["pid"]): at for at, r in self.of("end")}
        for at, record in self.of("start", "end"):
            task = record["job"], record["rank"], record["pid"]
            if record["kind"] == "end":
                holders = {unit: t for unit, t in holders.items() if t != task}
                continue
            for core in ids_of(record["cores"]):
                unit = record["node"], core
                other = holders.get(unit)
                if other and ended.get(other, at) > at:
                    self.wrong(at, "units", "core %d of %s has jobs %d and %d", core, unit[0], other[0],
                               task[0])
                holders[unit] = task

    def sizes_are_kept(self):
        for at, record in self.of("start"):
            if record["job"] not in self.submits:
                continue
            spec = self.submits[record["job"]][1]
            if len(ids_of(record["cores"])) != spec["cores"] or record["rank"] >= spec["nodes"]:
                self.wrong(at, "units", "job %d, rank %d, has cores %s; it asked for %d nodes with %d cores",
                           record["job"], record["rank"], record["cores"], spec["nodes"], spec["cores"])

    def edges_hold(self):
        for job, (at, record) in self.finals.items():
            if self.starts[job, 0] and "alloc" not in record["events"]:
                self.wrong(at, "edges", "job %d ran without resources: %s", job, record["events"])
            state, queued_again, held = "-", False, False
            for name in record["events"]:
                if name in REMARKS and state != "-":
                    continue
                following = EDGES.get((state, name))
                if name == "free" and not held or name == "clean" and held:
                    following = None
                if following is None:
                    self.wrong(at, "edges", "job %d: event %s in state %s: %s", job, name, state,
                               record["events"])
                    break
                held = (held or name == "alloc") and name != "free"
                queued_again = (queued_again or name == "requeue") and name not in ("finish", "alloc")
                state = "PRIORITY" if name == "clean" and queued_again else following

    def ends_are_terminal(self):
        for job, (at, record) in self.finals.items():
            if record["state"] not in FINISHED or record["events"][-1:] != ["clean"]:
                self.wrong(at, "terminal", "job %d is %s after the storm: %s", job, record["state"],
                           record["events"])

    def seen_stays(self):
        """Events and end states that a client has read are on disk, so they stay."""
        last = {}
        for at, record in self.of("seen", "final"):
            job, events = record["job"], record["events"]
            before = last.get(job, (None, []))
            if events[:len(before[1])] != before[1]:
                self.wrong(at, "seen", "job %d had events %s, has %s", job, before[1], events)
            if before[0] in FINISHED and record["state"] != before[0]:
                self.wrong(at, "seen", "job %d was %s, is %s", job, before[0], record["state"])
            last[job] = record["state"], events

    def answers_hold(self):
        done = collections.Counter((r["job"], ACKNOWLEDGED[r["action"]])
                                   for _, r in self.of("answer") if r["done"])
        for (job, event), count in done.items():
            if job not in self.finals:
                continue
            at, record = self.finals[job]
            wanted = 1 if event == "exception" else count
            if record["events"].count(event) < wanted:
                self.wrong(at, "answers", "job %d: %d answers promised %s: %s", job, count, event,
                           record["events"])

    def held_jobs_wait(self):
        released = {}
        for at, record in self.of("call"):
            if record["action"] in ("release", "urgency"):
                released.setdefault(record["job"], at)
        for job, (_, record) in self.submits.items():
            for start in self.starts[job, 0][:1]:
                if record["held"] and released.get(job, start) >= start:
                    self.wrong(start, "held", "job %d was submitted on hold and ran", job)

    def results_are_true(self):
        agents_killed = any(r["fault"] == "kill-agent" for _, r in self.of("fault"))
        for job, (at, record) in self.finals.items():
            ended = self.ends[job, 0]
            if record["state"] == "COMPLETED" and job in self.submits:
                nodes = self.submits[job][1]["nodes"]
                for rank in range(nodes):
                    code = self.history[self.ends[job, rank][-1]]["code"] if self.ends[job, rank] else None
                    if code != 0:
                        self.wrong(at, "result", "job %d completed; rank %d ended with %s", job, rank, code)
            if record["state"] != "FAILED" or record["exit_code"] == 137 and agents_killed:
                continue  # a fault can hit a task between its fork and its exec
            if not ended:
                self.wrong(at, "result", "job %d failed without a run: %s", job, record["events"])
            elif self.history[ended[-1]]["code"] != record["exit_code"]:
                self.wrong(at, "result", "job %d: exit code %s, its task said %s", job, record["exit_code"],
                           self.history[ended[-1]]["code"])

    def nothing_is_left(self):
        for at, record in self.of("left"):
            if record["cores_used"] or record["processes"]:
                self.wrong(at, "left", "%d cores in use, processes %s", record["cores_used"],
                           record["processes"])


RULES = (Model.accepted_is_kept, Model.ids_are_unique, Model.nothing_runs_twice, Model.dependencies_hold,
         Model.units_are_given_once, Model.sizes_are_kept, Model.edges_hold, Model.ends_are_terminal,
         Model.seen_stays, Model.answers_hold, Model.held_jobs_wait, Model.results_are_true,
         Model.nothing_is_left)


def check(history):
    model = Model(history)
    for rule in RULES:
        rule(model)
    return sorted(model.violations)
