/* process.h - what the processes of a job find: a signal before its time limit, resource
 * limits, the mask of file modes, the environment of a login shell
 *
 *     struct job_process p;
 *     job_process_init (&p);
 *     job_warning_parse ("B:USR1@120", &p.warn, "--signal", &err);
 *     job_process_to_json (&p, options, own);     // into shell.options and fluxq
 *     job_process_from_json (&p, system, &err);   // and back, from attributes.system
 *
 * In the jobspec:
 *
 *     shell.options.signal   {"signum": 10, "timeleft": 120}, as flux-core has it; with
 *                            "batch": true only the batch script's shell gets it
 *     shell.options.rlimit   {"nofile": 1024, "core": -1}, as flux-core has it; -1: unlimited
 *     fluxq.umask            "0027"
 *     fluxq.process-nice     nice value of the process that submitted; what comes of it is
 *                            the administrator's choice
 *     fluxq.user-env         {"timeout": 8, "login": true}
 */
#ifndef FLUXQ_JOBSPEC_PROCESS_H
#define FLUXQ_JOBSPEC_PROCESS_H

#include "common/json.h"
#include "common/rlimits.h"

#define JOB_WARNING_BEFORE 60.0     /* seconds, where none are given */
#define JOB_WARNING_LONGEST 65535.0 /* as in sbatch */
#define JOB_USER_ENV_TIMEOUT 8      /* seconds, the same */
#define JOB_USER_ENV_LONGEST 120

struct job_warning {
    int signum;    /* 0: none */
    double before; /* seconds before the time limit */
    bool batch;    /* to the batch script's shell alone */
};

struct job_user_env {
    int timeout; /* seconds, 0: not wanted */
    bool login;
};

struct job_process {
    struct job_warning warn;
    struct rlimits rlimits;
    int umask; /* -1: not given */
    int nice;  /* 0: as usual */
    struct job_user_env user_env;
};

void job_process_init (struct job_process *p);
/* "[B:]SIG[@SECONDS]" of sbatch. -EINVAL, -ERANGE: the error begins with where. */
int job_warning_parse (const char *text, struct job_warning *ret, const char *where,
                       struct error *err);
/* "[SIG][@DURATION]" of flux-batch: USR1 and 60 s where one is left out. */
int job_warning_parse_flux (const char *text, struct job_warning *ret, const char *where,
                            struct error *err);
/* "[TIMEOUT][S|L]" of sbatch; NULL: its defaults. */
int job_user_env_parse (const char *text, struct job_user_env *ret, const char *where,
                        struct error *err);
/* Add the keys to shell.options and fluxq; the values of rlimits are written as they are.
 * 0, or -1 without memory. */
int job_process_to_json (const struct job_process *p, json_t *options, json_t *own);
/* From attributes.system, which may be NULL. -EINVAL. */
int job_process_from_json (struct job_process *ret, const json_t *system,
                           struct error *err);

#endif
