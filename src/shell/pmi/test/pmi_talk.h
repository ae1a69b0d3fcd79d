/* pmi_talk.h - conversations of tasks with their PMI, for the tests of pmi.c
 *
 *     talk (step, 0, INIT1, INIT1_OK);                          // a line, and the reply to it
 *     talk2 (step, 1, "cmd=job-getid;", "cmd=job-getid-response;rc=0;jobid=12.0;");
 *     refuse_text (step, 0, "nonsense\n", "is not a command");  // the connection closes
 */
#pragma once

#include <errno.h>
#include <inttypes.h>

#include "shell/pmi/test/pmi_step.h"

#define INIT1 "cmd=init pmi_version=1 pmi_subversion=1\n"
#define INIT1_OK "cmd=response_to_init rc=0 msg=success pmi_version=1 pmi_subversion=1\n"
#define INIT2 "cmd=init pmi_version=2 pmi_subversion=0\n"
#define INIT2_OK "cmd=response_to_init rc=0 msg=success pmi_version=2 pmi_subversion=0\n"
#define BARRIER_OK "cmd=barrier_out rc=0 msg=success\n"
#define BARRIER_FAILED "cmd=barrier_out rc=-1 msg=failed\n"

/* Sends a line or a command, and expects this reply. */
static inline void talk (struct step *step, uint32_t task, const char *say,
                         const char *hear)
{
    step->err = (struct error){ 0 };
    if (step_say (step, task, say) != 0)
        fail_msg ("%s: %s", say, step->err.text);
    const char *heard = step_heard (step, task);
    if (strcmp (heard, hear) != 0)
        fail_msg ("said: %s\nheard: %s\nnot: %s", say, heard, hear);
}

static inline void talk2 (struct step *step, uint32_t task, const char *say,
                          const char *hear)
{
    talk (step, task, framed (say), *hear ? framed (hear) : "");
}

/* Input that closes the connection. part: text that the error must contain. */
static inline void refuse (struct step *step, uint32_t task, const char *data, size_t len,
                           const char *part)
{
    step->err = (struct error){ 0 };
    assert_int_equal (step_send (step, task, data, len), -EPROTO);
    if (!strstr (step->err.text, part))
        fail_msg ("\"%s\" is not in \"%s\"", part, step->err.text);
    assert_int_equal (step_send (step, task, "x", 1), -EPIPE);
    assert_string_equal (step_heard (step, task), "");
}

static inline void refuse_text (struct step *step, uint32_t task, const char *text,
                                const char *part)
{
    refuse (step, task, text, strlen (text), part);
}

static inline void init1 (struct step *step)
{
    for (uint32_t i = 0; i < step->ntasks; i++)
        talk (step, i, INIT1, INIT1_OK);
}

static inline void init2_one (struct step *step, uint32_t task)
{
    char ok[256];

    talk (step, task, INIT2, INIT2_OK);
    snprintf (ok, sizeof (ok),
              "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=%" PRIu32
              ";size=%" PRIu32 ";appnum=0;debugged=FALSE;pmiverbose=FALSE;",
              task, step->ntasks);
    talk2 (step, task, "cmd=fullinit;pmijobid=12.0;pmirank=0;threaded=FALSE;", ok);
}

static inline void init2 (struct step *step)
{
    for (uint32_t i = 0; i < step->ntasks; i++)
        init2_one (step, i);
}
