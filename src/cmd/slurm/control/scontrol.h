/* scontrol.h - the parts of scontrol: what they share, and their entry points
 *
 * Slurm's scontrol prints most messages as they are, without "scontrol: error:" in front,
 * because tools search for them. say() does so, and Slurm's errors of the option parser
 * are cmd_fail(). All functions here return nothing: a failure sets s->c->status, the
 * next words are worked off anyway, and the last status is the exit status.
 */
#pragma once

#include "cmd/client/command.h"

struct scontrol {
    struct cmd *c;
    int status;    /* CMD_FAILED once something has failed */
    bool oneline;  /* -o: a record is a line */
    bool details;  /* -d */
    bool quiet;    /* -Q: no messages about failures */
    bool json;     /* --json */
    bool finished; /* exit, quit, end of the input */
};

/* The words of a command, without the first: n may be 0. */
struct words {
    char **word;
    int n;
};

/* Prints a line to stderr unless s->quiet, and sets s->status. */
void scontrol_say (struct scontrol *s, const char *fmt, ...) PRINTF_LIKE (2, 3);
/* The same on stdout: Slurm reports there what is not found. */
void scontrol_print (struct scontrol *s, const char *fmt, ...) PRINTF_LIKE (2, 3);
/* The same on stderr, with "scontrol: error: " in front, also when quiet. */
void scontrol_error (struct scontrol *s, const char *fmt, ...) PRINTF_LIKE (2, 3);
/* Whether text is name, or the beginning of it with at least min characters, in any case.
 * len: characters of text that count. */
bool scontrol_is (const char *text, size_t len, const char *name, size_t min);

/* A request that the broker refused. */
struct refusal {
    char code[40];   /* of the problem; "": no answer came */
    char words[600]; /* Slurm's sentence, and the broker's reason where it says more */
};
/* A request with a JSON answer: 0 and *ret, a new reference, or -1 and *why. Takes body
 * (or NULL) over. Prints nothing. */
int scontrol_call (struct scontrol *s, const char *method, const char *target,
                   json_t *body, json_t **ret, struct refusal *why);
/* The same for POST PREFIX/NAME/SUFFIX, where name is encoded; drops the answer. */
int scontrol_post (struct scontrol *s, const char *prefix, const char *name,
                   const char *suffix, json_t *body, struct refusal *why);

/* One of several words of a table; name NULL ends it. */
struct keyword {
    const char *name;
    size_t min; /* characters that must be given */
    void (*run) (struct scontrol *s, const char *tag, const struct words *w);
    int least, most;     /* words that must follow; most < 0: any number */
    const char *refused; /* instead of run: why fluxq does not have it */
};

/* -- the commands: tag is the keyword as written -- */

void scontrol_show (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_hold (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_release (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_requeue (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_requeuehold (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_suspend (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_update (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_create (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_delete (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_write (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_ping (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_completing (struct scontrol *s, const char *tag, const struct words *w);
void scontrol_token (struct scontrol *s, const char *tag, const struct words *w);

/* -- what show shows; value NULL: all -- */

void scontrol_show_hostnames (struct scontrol *s, const char *value);
void scontrol_show_hostlist (struct scontrol *s, const char *value);
void scontrol_show_hostlistsorted (struct scontrol *s, const char *value);
void scontrol_show_jobs (struct scontrol *s, const char *value);
void scontrol_show_nodes (struct scontrol *s, const char *value);
void scontrol_show_partitions (struct scontrol *s, const char *value);
void scontrol_show_reservations (struct scontrol *s, const char *value);
void scontrol_show_steps (struct scontrol *s, const char *value);
void scontrol_show_config (struct scontrol *s, const char *value);
void scontrol_show_licenses (struct scontrol *s, const char *value);

/* -- parts of a kind of their own -- */

/* Calls fn with each id of a list of jobs, "7", "7,12_3", "12_[1-3]" (as one id), or of
 * "jobid=LIST", "job=LIST"; unless named is NULL, also of jobname=NAME: the jobs in these
 * states ("pending") with the name. */
void scontrol_each_job (struct scontrol *s, const char *list, const char *named,
                        void (*fn) (struct scontrol *s, const char *id, void *arg),
                        void *arg);
/* Prints the jobs in the shape of Slurm's data_parser v0.0.41. jobs: an array of answers
 * of GET /v1/jobs/ID. component: of a heterogeneous job; < 0: all. */
void scontrol_print_json (struct scontrol *s, const json_t *jobs, double component);
