/* unprivileged.c - see unprivileged.h */
#include "exec/kube/files/unprivileged.h"

#include "common/userfile.h"
#include "exec/kube/core/names.h"
#include "exec/kube/files/inputfiles.h"

bool unprivileged_for (uid_t uid)
{
    return !userfile_may_become (uid);
}

static int refuse (const char *what, const char *path, const char *way, struct error *err)
{
    return error_set (err, EPERM,
                      "%s: %s: the pods do not see this file, and the broker runs "
                      "without root and opens no files of users: %s",
                      what, path, way);
}

/* Returns the first file that must travel in the job's ConfigMap. */
static const struct launch_stage *sent_in (const struct launch *l)
{
    for (size_t i = 0; i < l->nstage_in; i++)
        if (strncmp (l->stage_in[i].from, POD_JOB "/", sizeof (POD_JOB)) == 0)
            return &l->stage_in[i];
    return NULL;
}

static const struct launch_stage *sent_out (const struct launch *l)
{
    for (size_t i = 0; i < l->nstage_out; i++)
        if (l->stage_out[i].send)
            return &l->stage_out[i];
    return NULL;
}

int unprivileged_refuse (const struct launch *l, const char *output, const char *error,
                         const char *input, struct error *err)
{
    static const char no_output[] = "use a file that the pods see, or -o /dev/null "
                                    "(fluxq-logs has the output in any case)";
    const struct launch_stage *in = sent_in (l), *out = sent_out (l);

    if (inputfiles_wanted (output))
        return refuse ("output file", output, no_output, err);
    if (inputfiles_wanted (error))
        return refuse ("error file", error, no_output, err);
    if (inputfiles_wanted (input))
        return refuse ("input file", input, "take one that they see", err);
    if (in)
        return refuse ("stage-in", in->to, "copy files that the pods see", err);
    if (out)
        return refuse ("stage-out", out->to,
                       "copy files to a directory that the pods "
                       "see",
                       err);
    return 0;
}
