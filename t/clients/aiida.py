"""AiiDA's Slurm plugin: scripts, submit, the list of jobs, the end of a job in detail, a cancel, a held job."""

import os
import time

from aiida.common.datastructures import CodeRunMode
from aiida.schedulers.datastructures import JobState, JobTemplate, JobTemplateCodeInfo
from aiida.schedulers.plugins.slurm import SlurmScheduler
from aiida.transports.plugins.local import LocalTransport


def script(scheduler, name, *command, **settings):
    template = JobTemplate()
    template.job_name = name
    template.shebang = "#!/bin/bash"
    template.sched_output_path = f"{name}.out"
    template.sched_error_path = f"{name}.err"
    template.max_wallclock_seconds = 300
    template.max_memory_kb = 50 * 1024
    template.queue_name = "batch"
    template.rerunnable = True
    template.job_resource = scheduler.create_job_resource(num_machines=2, num_mpiprocs_per_machine=1)
    for key, value in settings.items():
        setattr(template, key, value)
    code = JobTemplateCodeInfo()
    code.prepend_cmdline_params = ["srun", "-n", "2"]
    code.cmdline_params = list(command)
    code.join_files = False
    template.codes_info = [code]
    template.codes_run_mode = CodeRunMode.SERIAL
    text = scheduler.get_submit_script(template)
    with open(f"{name}.sh", "w", encoding="utf-8") as f:
        f.write(text)
    return f"{name}.sh"


def wait(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.3)


def state(scheduler, job):
    found = scheduler.get_jobs(jobs=[job], as_dict=True)
    return found[job].job_state if job in found else None


def show(info):
    names = (
        "title",
        "queue_name",
        "num_machines",
        "num_mpiprocs",
        "num_cpus",
        "requested_wallclock_time_seconds",
        "annotation",
        "job_owner",
    )
    return {name: info.get(name) for name in names}


def main():
    scheduler = SlurmScheduler()
    with LocalTransport(use_login_shell=False) as transport:  # a login shell has a PATH of its own
        scheduler.set_transport(transport)
        here = os.getcwd()
        job = scheduler.submit_job(here, script(scheduler, "runs", "echo", "task"))
        wait("end", lambda: state(scheduler, job) is None)
        print("output:", open("runs.out", encoding="utf-8").read().split())
        detail = {}

        def ended():
            detail.update(scheduler.get_detailed_job_info(job))
            lines = detail["stdout"].splitlines()
            return len(lines) > 1 and "COMPLETED" in lines[1].split("|")

        wait("detail", ended)
        print("end:", scheduler.parse_output(detail, "", ""))

        job = scheduler.submit_job(here, script(scheduler, "sleeps", "sleep", "100"))
        wait("run", lambda: state(scheduler, job) == JobState.RUNNING)
        info = scheduler.get_jobs(jobs=[job], as_dict=True)[job]
        print("running:", show(info), info.dispatch_time is not None, info.wallclock_time_seconds < 100)
        assert scheduler.kill_job(job)
        wait("cancel", lambda: state(scheduler, job) is None)

        job = scheduler.submit_job(here, script(scheduler, "held", "true", submit_as_hold=True))
        wait("held", lambda: state(scheduler, job) == JobState.QUEUED_HELD)
        print("held:", show(scheduler.get_jobs(jobs=[job], as_dict=True)[job]))
        assert scheduler.kill_job(job)
        wait("cancel of the held job", lambda: state(scheduler, job) is None)
        try:
            print("wrong:", scheduler.submit_job(here, script(scheduler, "wrong", "true", account="nobodys")))
        except Exception as e:
            print("wrong:", type(e).__name__)


if __name__ == "__main__":
    main()
