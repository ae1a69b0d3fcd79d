/* inputfiles.h - what the tasks of a pod read on standard input (--input)
 *
 * A pod does not see the user's directories, so the files travel as the script does, in
 * the job's ConfigMap. They are read once, before the Job is made, in a worker thread as
 * the user; what is there then is what every task reads.
 *
 *     struct inputfiles in = { 0 };
 *     launch.input = inputfiles_place (js->input);           // NULL: none
 *     inputfiles_read (&in, &launch, js->input, max, &err);
 *     for (size_t i = 0; i < in.n; i++) ... in.v[i].name, in.v[i].data, in.v[i].len
 *     inputfiles_release (&in);
 */
#ifndef FLUXQ_EXEC_KUBE_INPUTFILES_H
#define FLUXQ_EXEC_KUBE_INPUTFILES_H

#include "common/error.h"
#include "common/launch.h"

/* Bytes that a ConfigMap carries: the launch file, the script and the input. */
#define CONFIGMAP_MAX (1024 * 1024)
#define INPUTFILES_MAX 1000 /* files of one job */

struct inputfile {
    char name[32]; /* key of the ConfigMap, and name in POD_JOB */
    char *data;
    size_t len;
    uint32_t mode; /* its permissions */
    size_t record; /* in launch.stage_in; SIZE_MAX: it is standard input */
};

struct inputfiles {
    struct inputfile *v;
    size_t n;
};

/* Whether there is something to read: a pattern that is not NULL and not /dev/null. */
bool inputfiles_wanted (const char *pattern);
/* The agent's pattern for the files once they are in the pod, in the directory dir; the
 * caller frees it. NULL: no memory. */
char *inputfiles_place (const char *dir, const char *pattern);
/* Read the files that the user's pattern stands for, one for the job, for each node or for
 * each task, max bytes in all. Negative errno, and err names the file: -EFBIG past max,
 * -E2BIG past INPUTFILES_MAX; in is empty then. */
int inputfiles_read (struct inputfiles *in, const struct launch *l, const char *pattern,
                     size_t max, struct error *err);
/* One file of --stage-in, which is below cwd when its name is relative; its own name and
 * record are the caller's to set. -EFBIG past max, and err says what was there. */
int inputfiles_read_staged (struct inputfile *file, const char *cwd, const char *name,
                            size_t max, struct error *err);
void inputfiles_release (struct inputfiles *in);

#endif
