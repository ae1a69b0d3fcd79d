/* test_jobstate.c - tests of jobstate.h: each event in each state */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "protocol/agent_api.h"
#include "shell/agent/jobstate.h"
#include "shell/io/wait_status.h"

#define EXIT(code) ((code) << 8)

static void start (struct jobstate *js, uint32_t nranks, uint32_t ntasks, double limit)
{
    assert_int_equal (jobstate_init (js, nranks, ntasks, 60, limit, 5, 100), 0);
    for (uint32_t rank = 0; rank < nranks; rank++)
        assert_int_equal (jobstate_joined (js, rank, 101),
                          rank + 1 == nranks ? JOB_DO_START : 0);
    assert_int_equal (js->phase, JOB_RUN);
}

/* All ranks report that nothing is left: the last report ends the job. */
static void all_done (struct jobstate *js)
{
    for (uint32_t rank = 0; rank < js->nranks; rank++)
        assert_int_equal (jobstate_done (js, rank, 200),
                          rank + 1 == js->nranks ? JOB_DO_FINISH : 0);
    assert_int_equal (js->phase, JOB_OVER);
}

static void a_signal_is_worse_than_any_exit_code (void **state)
{
    (void)state;
    assert_int_equal (wait_status_worst (0, EXIT (3)), EXIT (3));
    assert_int_equal (wait_status_worst (EXIT (255), EXIT (3)), EXIT (255));
    assert_int_equal (wait_status_worst (EXIT (255), SIGHUP), SIGHUP);
    assert_int_equal (wait_status_worst (SIGTERM, EXIT (255)), SIGTERM);
    assert_int_equal (wait_status_worst (SIGSEGV, SIGKILL), SIGSEGV);
    assert_int_equal (wait_status_worst (0, 0), 0);
}

static void a_job_runs_to_its_end (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 2, 3, 0);
    assert_true (js.deadline == 0);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", 0, 110), 0);
    assert_int_equal (jobstate_task_exit (&js, 1, 2, "n1", EXIT (4), 111), 0);
    assert_int_equal (jobstate_task_exit (&js, 1, 1, "n1", EXIT (2), 112), JOB_DO_KILL);
    all_done (&js);
    assert_int_equal (js.finish.status, EXIT (4));
    assert_string_equal (js.finish.reason, "exited");
    assert_string_equal (js.finish.text, "task 2 on n1: exit status 4");
    jobstate_release (&js);
}

static void one_failed_task_does_not_end_the_others (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 1, 2, 0);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", SIGSEGV, 110), 0);
    assert_int_equal (js.phase, JOB_RUN);
    assert_int_equal (jobstate_task_exit (&js, 0, 1, "n0", 0, 111), JOB_DO_KILL);
    all_done (&js);
    assert_int_equal (js.finish.status, SIGSEGV);
    assert_string_equal (js.finish.reason, "signaled");
    jobstate_release (&js);
}

static void lack_of_memory_is_the_reason_when_the_job_ends_by_itself (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 1, 2, 0);
    jobstate_oom (&js, "n0 had no memory left");
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", SIGKILL, 110), 0);
    assert_int_equal (jobstate_task_exit (&js, 0, 1, "n0", 0, 111), JOB_DO_KILL);
    all_done (&js);
    assert_string_equal (js.finish.reason, "oom");
    assert_string_equal (js.finish.text, "n0 had no memory left");
    assert_int_equal (js.finish.status, SIGKILL);
    jobstate_release (&js);
    start (&js, 1, 1, 0); /* a script that survives the end of its step */
    jobstate_oom (&js, "n0 had no memory left");
    jobstate_task_exit (&js, 0, 0, "n0", 0, 110);
    all_done (&js);
    assert_string_equal (js.finish.reason, "exited");
    jobstate_release (&js);
    start (&js, 1, 1, 0);
    jobstate_terminate (&js, "cancelled", "", 5, 110);
    jobstate_oom (&js, "n0");
    jobstate_task_exit (&js, 0, 0, "n0", SIGKILL, 110);
    assert_string_equal (js.finish.reason, "cancelled");
    jobstate_release (&js);
}

/* One task of two ranks, up to the stage-out of files. */
static void start_to_stage (struct jobstate *js, int status)
{
    start (js, 2, 1, 0);
    js->stages = true;
    assert_int_equal (jobstate_task_exit (js, 0, 0, "n0", status, 110), JOB_DO_KILL);
    assert_int_equal (jobstate_done (js, 1, 111), 0);
    assert_int_equal (jobstate_staged (js, 1, 111), 0); /* without a request */
    assert_int_equal (jobstate_done (js, 0, 112), JOB_DO_STAGE);
    assert_int_equal (js->phase, JOB_STAGE);
}

static void files_are_brought_when_no_process_is_left (void **state)
{
    (void)state;
    struct jobstate js;
    start_to_stage (&js, 0);
    assert_int_equal (jobstate_staged (&js, 0, 113), 0);
    assert_int_equal (jobstate_staged (&js, 0, 113), 0); /* once */
    assert_int_equal (jobstate_done (&js, 1, 113), 0);
    assert_int_equal (jobstate_limit (&js, 5, 113), -EALREADY);
    assert_int_equal (jobstate_staged (&js, 1, 114), JOB_DO_FINISH);
    assert_int_equal (js.finish.status, 0);
    assert_int_equal (jobstate_staged (&js, 1, 114), 0);
    jobstate_release (&js);
}

static void a_file_that_is_not_brought_fails_a_job_that_succeeded (void **state)
{
    (void)state;
    struct jobstate js;
    start_to_stage (&js, 0);
    jobstate_stage_failed (&js, "the first");
    jobstate_stage_failed (&js, "the second");
    jobstate_staged (&js, 0, 113);
    assert_int_equal (jobstate_staged (&js, 1, 114), JOB_DO_FINISH);
    assert_int_equal (js.finish.status, EXIT (1));
    assert_string_equal (js.finish.reason, "exited");
    assert_string_equal (js.finish.text, "the first");
    jobstate_release (&js);
    start_to_stage (&js, EXIT (3));
    jobstate_stage_failed (&js, "a file");
    jobstate_staged (&js, 0, 113);
    assert_int_equal (jobstate_staged (&js, 1, 114), JOB_DO_FINISH);
    assert_int_equal (js.finish.status, EXIT (3));
    assert_string_equal (js.finish.text, "task 0 on n0: exit status 3");
    jobstate_release (&js);
}

static void who_is_lost_brings_nothing_and_is_not_waited_for (void **state)
{
    (void)state;
    struct jobstate js;
    start_to_stage (&js, 0);
    assert_int_equal (jobstate_staged (&js, 0, 113), 0);
    assert_int_equal (jobstate_lost (&js, 0, "too late", 113), 0);
    assert_int_equal (jobstate_lost (&js, 1, "lost n1", 114), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "exited");
    assert_int_equal (js.finish.status, EXIT (1));
    assert_string_equal (js.finish.text, "lost n1");
    jobstate_release (&js);
    start (&js, 2, 2, 0); /* lost while it ran: the other rank copies its own files */
    js.stages = true;
    assert_int_equal (jobstate_lost (&js, 1, "lost n1", 110), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 0, 111), JOB_DO_STAGE);
    assert_true (js.deadline == 111 + AGENT_STAGE_SECONDS);
    assert_int_equal (jobstate_staged (&js, 0, 112), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "lost");
    jobstate_release (&js);
}

static void files_have_a_time_of_their_own_and_a_cancel_cuts_it (void **state)
{
    (void)state;
    struct jobstate js;
    start_to_stage (&js, 0);
    assert_true (js.deadline == 112 + JOB_STAGE_SECONDS);
    assert_int_equal (jobstate_terminate (&js, "cancelled", "by ann", 5, 120), 0);
    assert_true (js.deadline == 125);
    assert_int_equal (jobstate_time (&js, "", 124), 0);
    assert_int_equal (jobstate_time (&js, "", 125), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "exited");
    assert_int_equal (js.finish.status, EXIT (1));
    jobstate_release (&js);
    start (&js, 1, 1, 10);
    js.stages = true;
    assert_int_equal (jobstate_time (&js, "", 111), JOB_DO_TERM);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", SIGTERM, 112), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 0, 113), JOB_DO_STAGE);
    assert_true (js.deadline == 113 + AGENT_STAGE_SECONDS);
    assert_int_equal (jobstate_time (&js, "", js.deadline), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "timeout");
    assert_int_equal (js.finish.status, SIGTERM);
    jobstate_release (&js);
}

static void without_a_start_or_a_rank_that_is_clean_no_file_is_brought (void **state)
{
    (void)state;
    struct jobstate js;
    assert_int_equal (jobstate_init (&js, 1, 1, 60, 0, 5, 100), 0);
    js.stages = true;
    assert_int_equal (jobstate_fail (&js, "no", 101), JOB_DO_FINISH);
    jobstate_release (&js);
    start (&js, 1, 1, 0);
    js.stages = true;
    assert_int_equal (jobstate_fail (&js, "no memory", 101), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 0, 102), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "startfail");
    jobstate_release (&js);
    start (&js, 2, 1, 0);
    js.stages = true;
    jobstate_task_exit (&js, 0, 0, "n0", 0, 110);
    assert_int_equal (jobstate_time (&js, "", 110 + JOB_KILL_SECONDS), JOB_DO_FINISH);
    jobstate_release (&js);
}

static void a_rank_joins_once (void **state)
{
    (void)state;
    struct jobstate js;
    assert_int_equal (jobstate_init (&js, 2, 2, 60, 0, 5, 100), 0);
    assert_int_equal (jobstate_joined (&js, 1, 101), 0);
    assert_int_equal (jobstate_joined (&js, 1, 101), 0);
    assert_int_equal (js.phase, JOB_JOIN);
    assert_int_equal (jobstate_joined (&js, 0, 101), JOB_DO_START);
    jobstate_release (&js);
}

static void who_does_not_join_fails_the_start (void **state)
{
    (void)state;
    struct jobstate js;
    assert_int_equal (jobstate_init (&js, 2, 2, 60, 0, 5, 100), 0);
    jobstate_joined (&js, 0, 101);
    assert_true (jobstate_joining (&js, 104) == 4);
    assert_int_equal (jobstate_time (&js, "n1 did not", 159), 0);
    assert_int_equal (jobstate_time (&js, "n1 did not", 160), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "startfail");
    assert_string_equal (js.finish.text, "n1 did not");
    assert_int_equal (js.finish.status, EXIT (1));
    assert_int_equal (jobstate_joined (&js, 1, 161), 0);
    assert_int_equal (js.phase, JOB_OVER);
    jobstate_release (&js);
}

static void the_time_limit_counts_from_the_start_and_has_a_grace (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 1, 1, 60);
    assert_int_equal (jobstate_time (&js, "", 160), 0);
    assert_int_equal (jobstate_time (&js, "", 161), JOB_DO_TERM);
    assert_int_equal (jobstate_time (&js, "", 165), 0);
    assert_int_equal (jobstate_time (&js, "", 166), JOB_DO_KILL);
    jobstate_task_exit (&js, 0, 0, "n0", SIGKILL, 166);
    all_done (&js);
    assert_string_equal (js.finish.reason, "timeout");
    assert_string_equal (js.finish.text, "time limit of 1:00 reached");
    assert_int_equal (js.finish.status, SIGKILL);
    jobstate_release (&js);
}

static void tasks_that_obey_the_grace_signal_end_the_job_early (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 1, 1, 60);
    assert_int_equal (jobstate_time (&js, "", 161), JOB_DO_TERM);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", 0, 162), JOB_DO_KILL);
    all_done (&js);
    assert_string_equal (js.finish.reason, "timeout");
    assert_int_equal (js.finish.status, 0);
    jobstate_release (&js);
}

static void the_first_reason_stands (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 2, 2, 0);
    assert_int_equal (jobstate_terminate (&js, "cancelled", "by ann", 5, 110),
                      JOB_DO_TERM);
    assert_int_equal (jobstate_terminate (&js, "timeout", "no", 5, 111), 0);
    assert_int_equal (jobstate_lost (&js, 1, "n1 is lost", 112), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 0, 113), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "cancelled");
    assert_string_equal (js.finish.text, "by ann");
    assert_int_equal (js.finish.status, SIGTERM);
    jobstate_release (&js);
}

static void a_second_request_may_shorten_the_grace_but_not_stretch_it (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 1, 1, 0);
    jobstate_terminate (&js, "cancelled", "", 5, 110);
    jobstate_terminate (&js, "cancelled", "", 50, 111);
    assert_true (js.deadline == 115);
    jobstate_terminate (&js, "cancelled", "", 1, 111);
    assert_true (js.deadline == 112);
    assert_int_equal (jobstate_terminate (&js, "cancelled", "", 0, 111), JOB_DO_KILL);
    jobstate_release (&js);
}

static void a_lost_rank_ends_the_job_without_waiting_for_it (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 3, 3, 0);
    assert_int_equal (jobstate_lost (&js, 1, "n1 is lost", 110), JOB_DO_KILL);
    assert_int_equal (jobstate_lost (&js, 1, "again", 110), 0);
    assert_int_equal (jobstate_done (&js, 0, 111), 0);
    assert_int_equal (jobstate_lost (&js, 2, "n2 too", 111), JOB_DO_FINISH);
    assert_string_equal (js.finish.reason, "lost");
    assert_string_equal (js.finish.text, "n1 is lost");
    assert_int_equal (js.finish.status, SIGKILL);
    jobstate_release (&js);
}

static void a_node_that_cannot_kill_does_not_hold_the_job_for_ever (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 2, 1, 0);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", 0, 110), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 0, 110), 0);
    assert_int_equal (jobstate_time (&js, "", 110 + JOB_KILL_SECONDS), JOB_DO_FINISH);
    assert_int_equal (js.finish.status, 0);
    jobstate_release (&js);
}

static void before_the_start_there_is_nothing_to_kill (void **state)
{
    (void)state;
    struct jobstate js;
    assert_int_equal (jobstate_init (&js, 2, 2, 60, 0, 5, 100), 0);
    jobstate_joined (&js, 0, 101);
    assert_int_equal (jobstate_terminate (&js, "cancelled", "", 5, 102), JOB_DO_FINISH);
    assert_int_equal (js.finish.status, SIGTERM);
    assert_int_equal (jobstate_terminate (&js, "cancelled", "", 5, 103), 0);
    assert_int_equal (jobstate_lost (&js, 1, "", 103), 0);
    jobstate_release (&js);
}

static void what_comes_too_early_or_too_late_changes_nothing (void **state)
{
    (void)state;
    struct jobstate js;
    assert_int_equal (jobstate_init (&js, 1, 1, 60, 0, 5, 100), 0);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", 0, 100), 0);
    assert_int_equal (jobstate_done (&js, 0, 100), 0);
    assert_int_equal (jobstate_joined (&js, 0, 100), JOB_DO_START);
    assert_int_equal (jobstate_done (&js, 0, 100), 0);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", 0, 101), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 0, 101), JOB_DO_FINISH);
    assert_int_equal (jobstate_done (&js, 0, 101), 0);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", EXIT (1), 102), 0);
    assert_int_equal (jobstate_fail (&js, "late", 102), 0);
    assert_int_equal (jobstate_time (&js, "", 1e9), 0);
    assert_string_equal (js.finish.reason, "exited");
    assert_int_equal (js.finish.status, 0);
    jobstate_release (&js);
}

/* limit 100 s from 101 on, warning 30 s before */
static void start_warned (struct jobstate *js)
{
    assert_int_equal (jobstate_init (js, 1, 1, 60, 100, 5, 100), 0);
    js->warn_before = 30;
    assert_int_equal (jobstate_joined (js, 0, 101), JOB_DO_START);
}

static void before_its_limit_a_job_is_warned_once (void **state)
{
    (void)state;
    struct jobstate js;
    start_warned (&js);
    assert_true (js.deadline == 171);
    assert_int_equal (jobstate_time (&js, "", 170.9), 0);
    assert_int_equal (jobstate_time (&js, "", 171), JOB_DO_WARN);
    assert_int_equal (js.phase, JOB_RUN);
    assert_true (js.deadline == 201);
    assert_int_equal (jobstate_time (&js, "", 200), 0);
    assert_int_equal (jobstate_time (&js, "", 201), JOB_DO_TERM);
    assert_string_equal (js.finish.reason, "timeout");
    jobstate_release (&js);
}

static void a_warning_longer_than_the_limit_comes_at_the_start (void **state)
{
    (void)state;
    struct jobstate js;
    start (&js, 1, 1, 0);
    js.warn_before = 30;
    assert_true (js.deadline == 0); /* without a limit there is no warning */
    assert_int_equal (jobstate_limit (&js, 10, 101), 0);
    assert_true (js.deadline == 101);
    assert_int_equal (jobstate_time (&js, "", 101), JOB_DO_WARN);
    assert_true (js.deadline == 111);
    jobstate_release (&js);
    start_warned (&js); /* after both times there is no warning any more */
    assert_int_equal (jobstate_time (&js, "", 300), JOB_DO_TERM);
    jobstate_release (&js);
}

static void a_new_limit_counts_from_the_start_and_warns_again (void **state)
{
    (void)state;
    struct jobstate js;
    start_warned (&js);
    assert_int_equal (jobstate_time (&js, "", 171), JOB_DO_WARN);
    assert_int_equal (jobstate_limit (&js, 110, 180), 0);
    assert_true (js.deadline == 181); /* the warning is in the future again */
    assert_int_equal (jobstate_time (&js, "", 181), JOB_DO_WARN);
    assert_int_equal (jobstate_limit (&js, 111, 190), 0);
    assert_true (js.deadline == 212); /* this warning is not */
    assert_int_equal (jobstate_limit (&js, 0, 190), 0);
    assert_true (js.deadline == 0);
    assert_int_equal (jobstate_time (&js, "", 1e6), 0);
    assert_int_equal (jobstate_limit (&js, 50, 190), 0); /* in the past already */
    assert_int_equal (jobstate_time (&js, "", 190), JOB_DO_TERM);
    assert_int_equal (jobstate_limit (&js, 1000, 191), -EALREADY);
    jobstate_release (&js);
}

static void a_limit_may_change_before_the_start (void **state)
{
    (void)state;
    struct jobstate js;
    assert_int_equal (jobstate_init (&js, 1, 1, 60, 100, 5, 100), 0);
    assert_int_equal (jobstate_limit (&js, 20, 100), 0);
    assert_true (js.deadline == 160); /* still that of the join */
    jobstate_joined (&js, 0, 110);
    assert_true (js.deadline == 130);
    jobstate_release (&js);
}

/* Ranks of a malleable job come and go; the job ends with its present ranks. */
static void test_ranks_come_and_go (void **state)
{
    struct jobstate js;

    (void)state;
    assert_int_equal (jobstate_init (&js, 2, 1, 60, 0, 10, 0), 0);
    assert_int_equal (jobstate_make_room (&js, 4), 0);
    jobstate_joined (&js, 0, 1);
    assert_int_equal (jobstate_joined (&js, 1, 1), JOB_DO_START);
    jobstate_candidate (&js, 2, true);
    jobstate_candidate (&js, 3, true);
    assert_int_equal (js.nranks, 2);
    jobstate_resize (&js, 4);
    assert_true (js.nranks == 4 && js.njoined == 4);
    /* one rank has no process left, the other is lost: the job goes on, and has two
     * again */
    assert_int_equal (jobstate_left (&js, 3, 2), 0);
    assert_int_equal (jobstate_left (&js, 2, 2), 0);
    assert_int_equal (js.phase, JOB_RUN);
    jobstate_resize (&js, 2);
    assert_true (js.nranks == 2 && js.nended == 0 && js.ranks[3] == RANK_ABSENT);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", 0, 3), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 0, 3), 0);
    assert_int_equal (jobstate_done (&js, 1, 3), JOB_DO_FINISH);
    jobstate_release (&js);
}

/* A rank that leaves when the job ends has done its part already. */
static void test_end_while_ranks_go (void **state)
{
    struct jobstate js;

    (void)state;
    assert_int_equal (jobstate_init (&js, 2, 1, 60, 0, 10, 0), 0);
    jobstate_joined (&js, 0, 1);
    jobstate_joined (&js, 1, 1);
    jobstate_left (&js, 1, 2);
    assert_int_equal (jobstate_task_exit (&js, 0, 0, "n0", 0, 3), JOB_DO_KILL);
    assert_int_equal (jobstate_done (&js, 1, 3), 0);
    assert_int_equal (jobstate_done (&js, 0, 3), JOB_DO_FINISH);
    jobstate_release (&js);
}

static void who_confirms_is_waited_for (void **state)
{
    struct jobstate js;

    (void)state;
    assert_int_equal (jobstate_init (&js, 2, 1, 60, 10, 5, 100), 0);
    js.confirms = true;
    assert_int_equal (jobstate_joined (&js, 1, 101), 0);
    assert_int_equal (jobstate_confirmed (&js, 101), 0);
    assert_int_equal (jobstate_joined (&js, 0, 101), JOB_DO_REPORT);
    assert_int_equal (js.phase, JOB_JOIN);
    assert_int_equal (jobstate_time (&js, "", 1000), 0); /* for any duration */
    assert_int_equal (jobstate_confirmed (&js, 1000), JOB_DO_START);
    assert_int_equal (jobstate_confirmed (&js, 1000), 0);
    assert_true (js.phase == JOB_RUN && js.deadline == 1010);
    jobstate_release (&js);
}

static void who_is_not_confirmed_has_not_begun (void **state)
{
    struct jobstate js;

    (void)state;
    assert_int_equal (jobstate_init (&js, 1, 1, 60, 0, 5, 100), 0);
    js.confirms = true;
    assert_int_equal (jobstate_joined (&js, 0, 101), JOB_DO_REPORT);
    assert_int_equal (jobstate_terminate (&js, "cancelled", "", 5, 102), JOB_DO_FINISH);
    assert_int_equal (jobstate_confirmed (&js, 103), 0);
    jobstate_release (&js);
}

/* A program that had ended with 0 before its output could not be written has
 * succeeded. */
static void who_is_ended_for_its_output_keeps_its_zero (void **state)
{
    struct jobstate js;

    (void)state;
    for (int status = 0; status < 2; status++) {
        start (&js, 1, 1, 0);
        js.keeps_zero = true;
        jobstate_terminate (&js, "signaled", "cannot write x", 5, 102);
        jobstate_task_exit (&js, 0, 0, "n0", status ? SIGTERM : 0, 103);
        all_done (&js);
        assert_int_equal (js.finish.status, status ? SIGTERM : 0);
        assert_string_equal (js.finish.reason, status ? "signaled" : "exited");
        assert_string_equal (js.finish.text, "cannot write x");
        jobstate_release (&js);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_ranks_come_and_go),
        cmocka_unit_test (test_end_while_ranks_go),
        cmocka_unit_test (who_is_ended_for_its_output_keeps_its_zero),
        cmocka_unit_test (who_confirms_is_waited_for),
        cmocka_unit_test (who_is_not_confirmed_has_not_begun),
        cmocka_unit_test (a_signal_is_worse_than_any_exit_code),
        cmocka_unit_test (a_job_runs_to_its_end),
        cmocka_unit_test (one_failed_task_does_not_end_the_others),
        cmocka_unit_test (lack_of_memory_is_the_reason_when_the_job_ends_by_itself),
        cmocka_unit_test (files_are_brought_when_no_process_is_left),
        cmocka_unit_test (a_file_that_is_not_brought_fails_a_job_that_succeeded),
        cmocka_unit_test (who_is_lost_brings_nothing_and_is_not_waited_for),
        cmocka_unit_test (files_have_a_time_of_their_own_and_a_cancel_cuts_it),
        cmocka_unit_test (without_a_start_or_a_rank_that_is_clean_no_file_is_brought),
        cmocka_unit_test (a_rank_joins_once),
        cmocka_unit_test (who_does_not_join_fails_the_start),
        cmocka_unit_test (the_time_limit_counts_from_the_start_and_has_a_grace),
        cmocka_unit_test (tasks_that_obey_the_grace_signal_end_the_job_early),
        cmocka_unit_test (the_first_reason_stands),
        cmocka_unit_test (a_second_request_may_shorten_the_grace_but_not_stretch_it),
        cmocka_unit_test (a_lost_rank_ends_the_job_without_waiting_for_it),
        cmocka_unit_test (a_node_that_cannot_kill_does_not_hold_the_job_for_ever),
        cmocka_unit_test (before_the_start_there_is_nothing_to_kill),
        cmocka_unit_test (what_comes_too_early_or_too_late_changes_nothing),
        cmocka_unit_test (before_its_limit_a_job_is_warned_once),
        cmocka_unit_test (a_warning_longer_than_the_limit_comes_at_the_start),
        cmocka_unit_test (a_new_limit_counts_from_the_start_and_warns_again),
        cmocka_unit_test (a_limit_may_change_before_the_start),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
