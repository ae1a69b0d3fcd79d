"""The users of a storm: an endless, seeded sequence of actions.

    schedule = Schedule (seed, nodes=4, cores=3)
    action = schedule.next ()      # {"action": "submit", "nodes": 2, ...} or {"action": "cancel", "which": 0.3}

"which" is a place among the jobs that the storm knows, 0 <= which < 1, the newest near 1. The runner turns the
place into a job, as the ids depend on what the broker accepts.
"""
import random

WEIGHTS = {"submit": 60, "cancel": 6, "hold": 4, "release": 8, "requeue": 5, "urgency": 4, "memo": 3,
           "look": 14, "list": 6, "pause": 6}
SCHEMES = ("afterok", "afterany", "afternotok", "after")


class Schedule:
    def __init__(self, seed, nodes, cores):
        self.random = random.Random(seed)
        self.nodes = nodes
        self.cores = cores
        self.submits = 0

    def next(self):
        name = self.random.choices(list(WEIGHTS), WEIGHTS.values())[0]
        if name == "submit":
            return self.submit()
        which = self.random.random() ** 0.3  # mostly jobs that are still active
        return {"action": name, "which": which, "value": self.random.randrange(1, 17),
                "seconds": self.random.choice((0.01, 0.05, 0.2))}

    def submit(self):
        pick = self.random
        self.submits += 1
        nodes = pick.choice((1, 1, 1, 2, self.nodes))
        return {
            "action": "submit", "key": "storm-%d" % self.submits, "nodes": nodes,
            "cores": pick.randrange(1, self.cores + 1), "requeue": pick.random() < 0.7,
            "held": pick.random() < 0.08, "seconds": pick.choice((0, 0, 0.05, 0.1, 0.3)),
            "exit": pick.choice((0, 0, 0, 3)) if nodes == 1 else 0,
            "after": [[pick.choice(SCHEMES), pick.random() ** 0.3]] if pick.random() < 0.25 else [],
        }
