/* podview.h - what a pod of ours is doing, and what it means for the job
 *
 *     struct podview v;
 *     podview_read (pod, &v);
 *     if (v.trouble == POD_RETRY) ... v.text
 *
 * The reasons that tell a lost race (worth another try) from what can never succeed stand
 * in one table.
 */
#ifndef FLUXQ_EXEC_KUBE_PODVIEW_H
#define FLUXQ_EXEC_KUBE_PODVIEW_H

#include <jansson.h>
#include <stdbool.h>

enum pod_trouble {
    POD_FINE,
    POD_WAITING, /* may still get better: text says what it waits for, worth telling at
                    the time limit */
    POD_RETRY,   /* this start is lost, another one may succeed */
    POD_FATAL,   /* no start can succeed */
};

struct podview {
    int index;         /* of the Indexed Job, -1: not known */
    char phase[16];    /* "Pending" ... */
    bool started;      /* the container runs or ran */
    bool terminal;     /* Succeeded or Failed: holds nothing of its node any more */
    bool deleting;     /* has a deletionTimestamp */
    bool oom;          /* the container was killed for its memory */
    bool pull_trouble; /* its image does not come */
    int exit_code;     /* of the container when it has ended, else -1 */
    enum pod_trouble trouble;
    char text[256]; /* one line; "" when fine */
};

void podview_read (const json_t *pod, struct podview *ret);

/* The table's answer for a reason of a pod's or a waiting container's status, and its
 * message. */
enum pod_trouble podview_classify (const char *reason, const char *message);

#endif
