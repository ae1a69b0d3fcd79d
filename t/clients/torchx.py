"""TorchX: an application with one role, its state, its log, the list of applications, a cancel; one with two roles,
which is a heterogeneous job."""

import os
import time

from torchx.schedulers.api import Stream
from torchx.schedulers.slurm_scheduler import create_scheduler
from torchx.specs import AppDef, AppState, Resource, Role, is_terminal


def wait(scheduler, app_id, wanted):
    deadline = time.monotonic() + 90
    while True:
        state = scheduler.describe(app_id).state
        if state in wanted:
            return state
        assert not is_terminal(state) and time.monotonic() < deadline, state
        time.sleep(0.5)


def role(name, replicas, *args):
    return Role(
        name=name,
        image=os.getcwd(),
        entrypoint="sh",
        args=["-c", *args],
        num_replicas=replicas,
        env={"WORD": "word"},
        resource=Resource(cpu=1, gpu=0, memMB=50),
    )


def application(*args):
    return AppDef(name="application", roles=[role("role", 1, *args)])


def submit(scheduler, app):
    options = {
        "partition": "batch",
        "time": "5",
        "comment": "a comment",
        "job_dir": os.path.join(os.getcwd(), "jobs"),
    }
    return scheduler.submit(app, options)


def main():
    os.mkdir("jobs")
    scheduler = create_scheduler("session")
    app_id = submit(scheduler, application("echo $WORD $SLURM_NTASKS"))
    print("end:", wait(scheduler, app_id, (AppState.SUCCEEDED,)).name)
    log = list(scheduler.log_iter(app_id, "role", streams=Stream.STDOUT))
    print("log:", log)
    assert log == ["word 1\n"] or log == ["word 1"], log
    roles = [role("first", 1, "echo one $WORD"), role("second", 2, "echo other $WORD")]
    app_id = submit(scheduler, AppDef(name="application", roles=roles))
    print("two roles:", wait(scheduler, app_id, (AppState.SUCCEEDED,)).name)
    for name, k in (("first", 0), ("second", 0), ("second", 1)):
        log = [line.strip() for line in scheduler.log_iter(app_id, name, k, streams=Stream.STDOUT)]
        print("log:", name, k, log)
        assert log == (["one word"] if name == "first" else ["other word"]), log
    app_id = submit(scheduler, application("sleep 100"))
    wait(scheduler, app_id, (AppState.RUNNING,))
    try:
        print("listed:", app_id in [app.app_id for app in scheduler.list()])
    except TypeError as e:  # TorchX expects the form of Slurm 22.05: a state, not a list of states
        print("listed:", e)
    scheduler.cancel(app_id)
    try:
        print("cancel:", wait(scheduler, app_id, (AppState.CANCELLED,)).name)
    except AssertionError as e:  # TorchX does not know the form of sacct's State
        assert "CANCELLED by" in str(e), e
        print("cancel:", e)
    app_id = submit(scheduler, application("exit 3"))
    print("failure:", wait(scheduler, app_id, (AppState.FAILED,)).name)


if __name__ == "__main__":
    main()
