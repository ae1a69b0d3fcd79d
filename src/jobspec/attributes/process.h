/* process.h - settings for the processes of a job: a signal before the time limit,
 * resource limits, the umask, the environment of a login shell
 *
 *     struct job_process p;
 *     job_process_init (&p);
 *     job_warning_parse ("B:USR1@120", &p.warn, "--signal", &err);
 *     job_process_to_json (&p, options, own);     // into shell.options and fluxq
 *     job_process_from_json (&p, system, &err);   // and back, from attributes.system
 *
 * In the jobspec:
 *
 *     shell.options.signal   {"signum": 10, "timeleft": 120}, as in flux-core; with
 *                            "batch": true only the batch script's shell gets the signal
 *     shell.options.rlimit   {"nofile": 1024, "core": -1}, as in flux-core; -1: unlimited
 *     fluxq.umask            "0027"
 *     fluxq.process-nice     nice value of the submitting process; the administrator
 *                            chooses whether the tasks get it
 *     fluxq.user-env         {"timeout": 8, "login": true}
 */
#pragma once

#include "common/json.h"
#include "common/rlimits.h"

#define JOB_WARNING_BEFORE 60.0     /* seconds, if none are given */
#define JOB_WARNING_LONGEST 65535.0 /* as in sbatch */
#define JOB_USER_ENV_TIMEOUT 8      /* seconds, as in sbatch */
#define JOB_USER_ENV_LONGEST 120

struct job_warning {
    int signum;    /* 0: none */
    double before; /* seconds before the time limit */
    bool batch;    /* only the batch script's shell gets the signal */
    bool steps;    /* only the steps of a batch job do; else all of it if no step runs */
};

struct job_user_env {
    int timeout; /* seconds, 0: not wanted */
    bool login;  /* as a login shell */
};

struct job_process {
    struct job_warning warn;
    struct rlimits rlimits;
    int umask; /* -1: not given */
    int nice;  /* nice value of the submitting process; 0: default */
    struct job_user_env user_env;
};

void job_process_init (struct job_process *p);
/* Parse "[B:]SIG[@SECONDS]" of sbatch. -EINVAL, -ERANGE: the error begins with where. */
int job_warning_parse (const char *text, struct job_warning *ret, const char *where,
                       struct error *err);
/* Parse "[SIG][@DURATION]" of flux-batch; the defaults are USR1 and 60 s. */
int job_warning_parse_flux (const char *text, struct job_warning *ret, const char *where,
                            struct error *err);
/* Parse "[TIMEOUT][S|L]" of sbatch; text NULL: the defaults of sbatch. */
int job_user_env_parse (const char *text, struct job_user_env *ret, const char *where,
                        struct error *err);
/* Add the keys to options (shell.options) and own (fluxq); the values of rlimits are
 * written unchanged. 0, or -1: no memory. */
int job_process_to_json (const struct job_process *p, json_t *options, json_t *own);
/* Read the keys from attributes.system, which can be NULL. -EINVAL. */
int job_process_from_json (struct job_process *ret, const json_t *system,
                           struct error *err);
