/* inputfiles.h - the standard input of a pod's tasks (--input)
 *
 * A pod does not see the user's directories, so the files travel in the job's ConfigMap,
 * as the script does. A worker thread reads them once as the user, before the Job is
 * made; every task reads this copy.
 *
 *     struct inputfiles in = { 0 };
 *     launch.input = inputfiles_place (js->input);           // NULL: none
 *     inputfiles_read (&in, &launch, js->input, max, &err);
 *     for (size_t i = 0; i < in.n; i++) ... in.v[i].name, in.v[i].data, in.v[i].len
 *     inputfiles_release (&in);
 */
#pragma once

#include "common/error.h"
#include "protocol/launch.h"

/* Size limit of a ConfigMap in bytes: the launch file, the script and the input. */
#define CONFIGMAP_MAX (1024 * 1024)
#define INPUTFILES_MAX 1000 /* files of one job */

struct inputfile {
    char name[32]; /* key of the ConfigMap, and name in POD_JOB */
    char *data;
    size_t len;
    uint32_t mode; /* its permissions */
    size_t record; /* index in launch.stage_in; SIZE_MAX: standard input */
};

struct inputfiles {
    struct inputfile *v;
    size_t n;
};

/* Whether the pattern names a file: it is neither NULL nor "" nor /dev/null. */
bool inputfiles_wanted (const char *pattern);
/* Returns the agent's pattern for the files in the pod, in the directory dir; the caller
 * frees it. NULL: no memory. */
char *inputfiles_place (const char *dir, const char *pattern);
/* Reads the files of the user's pattern, one for the job, for each node or for each task,
 * in total max bytes at most. Negative errno, and err names the file: -EFBIG past max,
 * -E2BIG past INPUTFILES_MAX; in is empty then. */
int inputfiles_read (struct inputfiles *in, const struct launch *l, const char *pattern,
                     size_t max, struct error *err);
/* Reads one file of --stage-in; a relative name is below cwd. The caller sets the file's
 * own name and record. -EFBIG past max, and err has the size. */
int inputfiles_read_staged (struct inputfile *file, const char *cwd, const char *name,
                            size_t max, struct error *err);
void inputfiles_release (struct inputfiles *in);
