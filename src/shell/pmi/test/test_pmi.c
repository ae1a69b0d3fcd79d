/* test_pmi.c - messages of PMI-1 and PMI-2 clients and the required replies: scripts of
 * lines and replies; fences of several ranks in one process; the places of tasks;
 * invalid configurations */
#include "common/test/unit.h"

#include <errno.h>
#include <inttypes.h>

#include "shell/pmi/kvs.h"
#include "shell/pmi/test/pmi_step.h"
#include "shell/pmi/test/pmi_talk.h"

/* PMI-1 */

static void the_script_of_mpich_is_answered (void **state)
{
    static const struct {
        const char *say, *hear;
    } script[] = {
        { INIT1, INIT1_OK },
        { "cmd=get_maxes\n",
          "cmd=maxes rc=0 msg=success kvsname_max=64 keylen_max=64 vallen_max=1024\n" },
        { "cmd=get_appnum\n", "cmd=appnum rc=0 msg=success appnum=0\n" },
        { "cmd=get_my_kvsname\n", "cmd=my_kvsname rc=0 msg=success kvsname=12.0\n" },
        { "cmd=get_universe_size\n", "cmd=universe_size rc=0 msg=success size=1\n" },
        { "cmd=get kvsname=12.0 key=PMI_process_mapping\n",
          "cmd=get_result rc=0 value=(vector,(0,1,1))\n" },
        { "cmd=put kvsname=12.0 key=a value=x y\n", "cmd=put_result rc=0 msg=success\n" },
        { "cmd=put key=b value=\n", "cmd=put_result rc=0 msg=success\n" },
        { "cmd=barrier_in\n", BARRIER_OK },
        { "cmd=barrier_in group=0,1:7\n",
          "cmd=barrier_out rc=3 msg=an_argument_is_missing_or_wrong\n" },
        { "cmd=get kvsname=12.0 key=a\n", "cmd=get_result rc=0 value=x y\n" },
        { "cmd=get key=b\n", "cmd=get_result rc=0 value=\n" },
        { "cmd=get kvsname=12.0 key=c\n", "cmd=get_result rc=4 msg=no_such_key\n" },
        { "cmd=get kvsname=13.0 key=a\n",
          "cmd=get_result rc=3 msg=an_argument_is_missing_or_wrong\n" },
        { "cmd=put kvsname=13.0 key=a value=z\n",
          "cmd=put_result rc=3 msg=an_argument_is_missing_or_wrong\n" },
        { "cmd=put kvsname=12.0 value=z\n",
          "cmd=put_result rc=3 msg=an_argument_is_missing_or_wrong\n" },
        { "cmd=put kvsname=12.0 key=a\n",
          "cmd=put_result rc=3 msg=an_argument_is_missing_or_wrong\n" },
        { "cmd=getbyidx kvsname=12.0 idx=0\n",
          "cmd=getbyidx_results rc=0 nextidx=1 key=a val=x y\n" },
        { "cmd=getbyidx kvsname=12.0 idx=1\n",
          "cmd=getbyidx_results rc=0 nextidx=2 key=b val=\n" },
        { "cmd=getbyidx kvsname=12.0 idx=2\n",
          "cmd=getbyidx_results rc=-1 msg=failed reason=no_more_keyvals\n" },
        { "cmd=getbyidx kvsname=12.0 idx=-1\n",
          "cmd=getbyidx_results rc=-1 msg=failed reason=no_more_keyvals\n" },
        { "cmd=getbyidx kvsname=12.0\n",
          "cmd=getbyidx_results rc=-1 msg=failed reason=no_more_keyvals\n" },
        { "cmd=create_kvs\n", "cmd=newkvs rc=-1 msg=failed\n" },
        { "cmd=destroy_kvs kvsname=12.0\n", "cmd=kvs_destroyed rc=-1 msg=failed\n" },
        { "cmd=publish_name service=s port=p\n",
          "cmd=publish_result rc=-1 msg=failed info=fail\n" },
        { "cmd=unpublish_name service=s\n",
          "cmd=unpublish_result rc=-1 msg=failed info=fail\n" },
        { "cmd=lookup_name service=s\n",
          "cmd=lookup_result rc=-1 msg=failed info=fail\n" },
        { "\n", "" },
        { "   \n", "" },
        { "cmd=finalize\n", "cmd=finalize_ack rc=0 msg=success\n" },
    };
    (void)state;

    for (size_t piece = 0; piece < 4; piece++) {
        struct step *step = step_create (1, 1, STEP_BLOCKS);
        step->piece = piece;
        for (size_t i = 0; i < ARRAY_SIZE (script); i++) {
            assert_int_equal (step_is_unfinished (step, 0), i > 0);
            talk (step, 0, script[i].say, script[i].hear);
        }
        assert_false (step_is_unfinished (step, 0));
        assert_int_equal (step->fences, 1);
        step_destroy (step);
    }
}

static void many_commands_at_once_are_answered_in_order (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);

    (void)state;
    talk (step, 0, INIT1 "cmd=put key=a value=1\ncmd=barrier_in\ncmd=get key=a\ncmd=fin",
          INIT1_OK "cmd=put_result rc=0 msg=success\n" BARRIER_OK
                   "cmd=get_result rc=0 value=1\n");
    talk (step, 0, "alize\n", "cmd=finalize_ack rc=0 msg=success\n");
    step_destroy (step);
}

static void spawning_is_answered_once_with_an_error (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);

    (void)state;
    init1 (step);
    talk (step, 0,
          "mcmd=spawn\nnprocs=2\nexecname=/bin/"
          "x\ntotspawns=1\nspawnssofar=1\narg1=cmd=abort\n"
          "argcnt=1\nendcmd\n",
          "cmd=spawn_result rc=-1 msg=failed\n");
    talk (step, 0, "mcmd=spawn\ntotspawns=2\nspawnssofar=1\nendcmd\n", "");
    talk (step, 0, "mcmd=spawn\ntotspawns=2\nspawnssofar=2\nendcmd\n",
          "cmd=spawn_result rc=-1 msg=failed\n");
    talk (step, 0, "cmd=get_appnum\n", "cmd=appnum rc=0 msg=success appnum=0\n");
    assert_int_equal (step->abort_status, 0);
    step_destroy (step);
}

static void init_of_another_version_fails_and_may_be_tried_again (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);

    (void)state;
    talk (step, 0, "cmd=init pmi_version=3 pmi_subversion=0\n",
          "cmd=response_to_init rc=-1 msg=failed pmi_version=1 pmi_subversion=1\n");
    talk (step, 0, "cmd=init\n",
          "cmd=response_to_init rc=-1 msg=failed pmi_version=1 pmi_subversion=1\n");
    assert_false (step_is_unfinished (step, 0));
    talk (step, 0, INIT1, INIT1_OK);
    talk (step, 0, INIT1,
          "cmd=response_to_init rc=1 msg=not_the_time_for_this_command\n");
    assert_true (step_is_unfinished (step, 0));
    step_destroy (step);
}

static void after_finalize_one_may_begin_again (void **state)
{
    struct step *step = step_create (1, 2, STEP_BLOCKS);

    (void)state;
    init1 (step);
    for (uint32_t i = 0; i < 2; i++)
        talk (step, i, "cmd=finalize\n", "cmd=finalize_ack rc=0 msg=success\n");
    talk (step, 0, INIT1, INIT1_OK);
    talk (step, 0, "cmd=barrier_in\n", ""); /* the other task is not lost, only later */
    init2_one (step, 1);
    talk2 (step, 1, "cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;");
    assert_string_equal (step_heard (step, 0), BARRIER_OK);
    talk (step, 0, "cmd=finalize\n", "cmd=finalize_ack rc=0 msg=success\n");
    refuse_text (step, 0, "cmd=get key=a\n", "get before init");
    step_destroy (step);
}

static void aborts_are_told_once_and_never_as_success (void **state)
{
    static const struct {
        const char *say;
        int status;
    } cases[] = {
        { "cmd=abort exitcode=7\n", 7 },
        { "cmd=abort\n", 1 },
        { "cmd=abort exitcode=0\n", 1 },
        { "cmd=abort exitcode=256\n", 1 },
        { "cmd=abort exitcode=-1\n", 255 },
        { "cmd=abort exitcode=259\n", 3 },
        { "cmd=abort exitcode=1x\n", 1 },
        { "cmd=abort exitcode=99999999999\n", 1 },
        { "cmd=abort exitcode=9 message=why\x1b\n", 9 },
    };
    (void)state;

    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct step *step = step_create (1, 2, STEP_BLOCKS);
        init1 (step);
        talk (step, 1, cases[i].say, "");
        assert_int_equal (step->abort_status, cases[i].status);
        assert_int_equal (step->abort_task, 1);
        step->abort_status = 0;
        talk (step, 1, "cmd=abort exitcode=8\n", "");
        assert_int_equal (step->abort_status, 0);
        if (strstr (cases[i].say, "message"))
            assert_string_equal (step->abort_text, "why?");
        step_destroy (step);
    }
}

/* PMI-2 */

static void the_script_of_a_client_of_version_2_is_answered (void **state)
{
    static const struct {
        const char *say, *hear;
    } script[] = {
        { "cmd=job-getid;", "cmd=job-getid-response;rc=0;jobid=12.0;" },
        { "cmd=kvs-put;key=a;value=x;;y= z\n;", "cmd=kvs-put-response;rc=0;" },
        { "cmd=kvs-put;thrid=0x1f;key=b;value=;",
          "cmd=kvs-put-response;thrid=0x1f;rc=0;" },
        { "cmd=kvs-fence;thrid=0x2f;", "cmd=kvs-fence-response;thrid=0x2f;rc=0;" },
        { "cmd=kvs-get;jobid=12.0;srcid=-1;key=a;",
          "cmd=kvs-get-response;rc=0;found=TRUE;value=x;;y= z\n;" },
        { "cmd=kvs-get;jobid=;srcid=-1;key=b;",
          "cmd=kvs-get-response;rc=0;found=TRUE;value=;" },
        { "cmd=kvs-get;key=c;", "cmd=kvs-get-response;rc=0;found=FALSE;" },
        { "cmd=kvs-get;jobid=13.0;key=a;",
          "cmd=kvs-get-response;rc=3;errmsg=an_argument_is_missing_or_wrong;" },
        { "cmd=kvs-get;jobid=12.0;",
          "cmd=kvs-get-response;rc=3;errmsg=an_argument_is_missing_or_wrong;" },
        { "cmd=kvs-put;key=a;",
          "cmd=kvs-put-response;rc=3;errmsg=an_argument_is_missing_or_wrong;" },
        { "cmd=info-getjobattr;key=PMI_process_mapping;",
          "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,1,1));" },
        { "cmd=info-getjobattr;key=universeSize;",
          "cmd=info-getjobattr-response;rc=0;found=TRUE;value=1;" },
        { "cmd=info-getjobattr;key=hasNameServ;",
          "cmd=info-getjobattr-response;rc=0;found=TRUE;value=FALSE;" },
        { "cmd=info-getjobattr;key=a;",
          "cmd=info-getjobattr-response;rc=0;found=FALSE;" },
        { "cmd=info-getjobattr;", "cmd=info-getjobattr-response;rc=0;found=FALSE;" },
        { "cmd=info-getnodeattr;key=localRanks;wait=FALSE;",
          "cmd=info-getnodeattr-response;rc=0;found=TRUE;value=0;" },
        { "cmd=info-getnodeattr;key=localRanksCount;",
          "cmd=info-getnodeattr-response;rc=0;found=TRUE;value=1;" },
        { "cmd=info-getnodeattr;key=n;wait=FALSE;",
          "cmd=info-getnodeattr-response;rc=0;found=FALSE;" },
        { "cmd=info-getnodeattr;wait=TRUE;",
          "cmd=info-getnodeattr-response;rc=3;errmsg=an_argument_is_missing_or_wrong;" },
        { "cmd=info-putnodeattr;key=n;value=1;;2;",
          "cmd=info-putnodeattr-response;rc=0;" },
        { "cmd=info-putnodeattr;key=n;",
          "cmd=info-putnodeattr-response;rc=3;errmsg=an_argument_is_missing_or_wrong;" },
        { "cmd=info-getnodeattr;key=n;wait=TRUE;",
          "cmd=info-getnodeattr-response;rc=0;found=TRUE;value=1;;2;" },
        { "cmd=name-publish;name=s;port=p;infokeycount=0;",
          "cmd=name-publish-response;rc=-1;errmsg=failed;" },
        { "cmd=name-unpublish;name=s;",
          "cmd=name-unpublish-response;rc=-1;errmsg=failed;" },
        { "cmd=name-lookup;name=s;", "cmd=name-lookup-response;rc=-1;errmsg=failed;" },
        { "cmd=job-connect;jobid=13.0;",
          "cmd=job-connect-response;rc=-1;errmsg=failed;" },
        { "cmd=job-disconnect;jobid=13.0;",
          "cmd=job-disconnect-response;rc=-1;errmsg=failed;" },
        { "cmd=spawn;thrid=7;ncmds=1;preputcount=0;subcmd=x;maxprocs=1;argc=0;",
          "cmd=spawn-response;thrid=7;rc=-1;errmsg=failed;" },
        { "cmd=ring;count=1;left=a;right=b;", "cmd=ring-response;rc=-1;errmsg=failed;" },
        { "cmd=fullinit;pmirank=0;",
          "cmd=fullinit-response;rc=1;errmsg=not_the_time_for_this_command;" },
        { "cmd=finalize;", "cmd=finalize-response;rc=0;" },
    };
    (void)state;

    for (size_t piece = 0; piece < 4; piece++) {
        struct step *step = step_create (1, 1, STEP_BLOCKS);
        step->piece = piece;
        init2 (step);
        for (size_t i = 0; i < ARRAY_SIZE (script); i++) {
            assert_true (step_is_unfinished (step, 0));
            talk2 (step, 0, script[i].say, script[i].hear);
        }
        assert_false (step_is_unfinished (step, 0));
        step_destroy (step);
    }
}

static void before_fullinit_nothing_else_is_served (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);

    (void)state;
    talk (step, 0, INIT2, INIT2_OK);
    assert_true (step_is_unfinished (step, 0));
    talk2 (step, 0, "cmd=kvs-put;key=a;value=b;",
           "cmd=kvs-put-response;rc=1;errmsg=not_the_time_for_this_command;");
    talk2 (step, 0, "cmd=kvs-fence;",
           "cmd=kvs-fence-response;rc=1;errmsg=not_the_time_for_this_command;");
    talk2 (step, 0, "cmd=finalize;",
           "cmd=finalize-response;rc=1;errmsg=not_the_time_for_this_command;");
    assert_int_equal (step->fences, 0);
    step_destroy (step);
}

static void the_length_may_stand_left_or_right (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);

    (void)state;
    init2 (step);
    talk (step, 0, "14    cmd=job-getid;",
          framed ("cmd=job-getid-response;rc=0;jobid=12.0;"));
    talk (step, 0, "000014cmd=job-getid;",
          framed ("cmd=job-getid-response;rc=0;jobid=12.0;"));
    talk (step, 0, "  14  cmd=job-getid;",
          framed ("cmd=job-getid-response;rc=0;jobid=12.0;"));
    step_destroy (step);
}

static void who_waits_for_a_node_attribute_gets_it_when_it_is_put (void **state)
{
    struct step *step = step_create (2, 6, STEP_BLOCKS);

    (void)state;
    init2 (step);
    talk2 (step, 0, "cmd=info-getnodeattr;thrid=1;key=shm;wait=TRUE;", "");
    talk2 (step, 0, "cmd=info-getnodeattr;thrid=2;key=other;wait=TRUE;", "");
    talk2 (step, 2, "cmd=info-getnodeattr;key=shm;wait=TRUE;", "");
    talk2 (step, 3, "cmd=info-getnodeattr;key=shm;wait=TRUE;", ""); /* on another node */
    talk2 (step, 1, "cmd=info-putnodeattr;key=shm;value=/x;",
           "cmd=info-putnodeattr-response;rc=0;");
    assert_string_equal (
        step_heard (step, 0),
        framed ("cmd=info-getnodeattr-response;thrid=1;rc=0;found=TRUE;value=/x;"));
    assert_string_equal (
        step_heard (step, 2),
        framed ("cmd=info-getnodeattr-response;rc=0;found=TRUE;value=/x;"));
    assert_string_equal (step_heard (step, 3), "");
    step_close (step, 0);
    talk2 (step, 1, "cmd=info-putnodeattr;key=other;value=y;",
           "cmd=info-putnodeattr-response;rc=0;");
    assert_string_equal (step_heard (step, 0), "");
    step_destroy (step);
}

static void waits_are_bounded (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);
    char key[KVS_KEY_MAX + 2] = { 0 }, say[256];

    (void)state;
    init2 (step);
    for (int i = 0; i < PMI_WAITS_MAX; i++)
        talk2 (step, 0, "cmd=info-getnodeattr;key=k;wait=TRUE;", "");
    talk2 (step, 0, "cmd=info-getnodeattr;key=k;wait=TRUE;",
           "cmd=info-getnodeattr-response;rc=2;"
           "errmsg=the_job's_memory_for_keys_and_values_is_full;");
    memset (key, 'k', KVS_KEY_MAX + 1);
    snprintf (say, sizeof (say), "cmd=info-getnodeattr;key=%s;wait=TRUE;", key);
    talk2 (step, 0, say,
           "cmd=info-getnodeattr-response;rc=5;errmsg=the_key_is_empty_or_longer_than_64_"
           "bytes;");
    refuse_text (step, 0, framed ("cmd=finalize;"), "while it waits");
    step_destroy (step);
}

static void an_abort_of_version_2_may_be_of_one_task_only (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);

    (void)state;
    init2 (step);
    talk2 (step, 0, "cmd=abort;isworld=FALSE;msg=me;", "");
    assert_int_equal (step->abort_status, 0);
    talk2 (step, 0, "cmd=abort;isworld=TRUE;msg=all;; of\nus;", "");
    assert_int_equal (step->abort_status, 1);
    assert_string_equal (step->abort_text, "all; of?us");
    step_destroy (step);
    step = step_create (1, 1, STEP_BLOCKS);
    init2 (step);
    talk2 (step, 0, "cmd=abort;exitcode=-1;message=as MPICH says it;", "");
    assert_int_equal (step->abort_status, 255);
    assert_string_equal (step->abort_text, "as MPICH says it");
    step_destroy (step);
}

/* Several ranks, and both versions */

static void a_fence_ends_for_nobody_before_all_are_in (void **state)
{
    struct step *step = step_create (2, 4, STEP_CYCLIC);

    (void)state;
    init1 (step);
    for (uint32_t i = 0; i < 4; i++) {
        char say[64];
        snprintf (say, sizeof (say), "cmd=put key=k%" PRIu32 " value=v%" PRIu32 "\n", i,
                  i);
        talk (step, i, say, "cmd=put_result rc=0 msg=success\n");
    }
    talk (step, 0, "cmd=get key=k1\n", "cmd=get_result rc=4 msg=no_such_key\n");
    for (uint32_t i = 0; i < 3; i++)
        talk (step, i, "cmd=barrier_in\n", "");
    assert_int_equal (step->fences, 0);
    talk (step, 3, "cmd=barrier_in\n", BARRIER_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal (step_heard (step, i), BARRIER_OK);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 4; j++) {
            char say[64], hear[64];
            snprintf (say, sizeof (say), "cmd=get key=k%" PRIu32 "\n", j);
            snprintf (hear, sizeof (hear), "cmd=get_result rc=0 value=v%" PRIu32 "\n", j);
            talk (step, i, say, hear);
        }
    step_destroy (step);
}

static void both_versions_are_in_one_fence_and_see_one_kvs (void **state)
{
    struct step *step = step_create (2, 4, STEP_BLOCKS);

    (void)state;
    for (uint32_t i = 0; i < 4; i += 2) {
        talk (step, i, INIT1, INIT1_OK);
        init2_one (step, i + 1);
    }
    talk (step, 0, "cmd=put key=one value=a;b c\n", "cmd=put_result rc=0 msg=success\n");
    talk2 (step, 1, "cmd=kvs-put;key=two;value=plain;", "cmd=kvs-put-response;rc=0;");
    talk2 (step, 1, "cmd=kvs-put;key=lines;value=x\ncmd=abort;",
           "cmd=kvs-put-response;rc=0;");
    talk (step, 0, "cmd=barrier_in\n", "");
    talk2 (step, 3, "cmd=kvs-fence;", "");
    talk (step, 2, "cmd=barrier_in\n", "");
    talk2 (step, 1, "cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;");
    assert_string_equal (step_heard (step, 0), BARRIER_OK);
    assert_string_equal (step_heard (step, 2), BARRIER_OK);
    assert_string_equal (step_heard (step, 3), framed ("cmd=kvs-fence-response;rc=0;"));
    talk2 (step, 3, "cmd=kvs-get;key=one;",
           "cmd=kvs-get-response;rc=0;found=TRUE;value=a;;b c;");
    talk (step, 2, "cmd=get key=two\n", "cmd=get_result rc=0 value=plain\n");
    /* A value that does not fit in a line is never sent as two lines. */
    talk (step, 2, "cmd=get key=lines\n",
          "cmd=get_result rc=6 msg=the_value_cannot_be_told_in_this_version\n");
    talk (step, 2, "cmd=getbyidx idx=2\n",
          "cmd=getbyidx_results rc=-1 msg=failed reason=no_more_keyvals\n");
    step_destroy (step);
}

static void of_two_values_of_a_key_all_see_the_same (void **state)
{
    struct step *step = step_create (3, 3, STEP_BLOCKS);
    const char *hear = "cmd=get_result rc=0 value=from2\n";

    (void)state;
    init1 (step);
    talk (step, 1, "cmd=put key=k value=early\n", "cmd=put_result rc=0 msg=success\n");
    for (uint32_t i = 0; i < 3; i++) {
        char say[64];
        snprintf (say, sizeof (say), "cmd=put key=k value=from%" PRIu32 "\n", i);
        talk (step, i, say, "cmd=put_result rc=0 msg=success\n");
    }
    for (uint32_t i = 0; i < 3; i++)
        step_say (step, i, "cmd=barrier_in\n");
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal (step_heard (step, i), BARRIER_OK);
        talk (step, i, "cmd=get key=k\n", hear);
    }
    step_destroy (step);
}

static void only_what_changed_is_exchanged (void **state)
{
    struct step *step = step_create (2, 2, STEP_BLOCKS);

    (void)state;
    init1 (step);
    step->manual = true;
    talk (step, 0, "cmd=put key=k value=v\n", "cmd=put_result rc=0 msg=success\n");
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 2; i++)
            talk (step, i, "cmd=barrier_in\n", "");
        assert_int_equal (step->ranks[0].given.len, round == 1 ? 0 : 8 + 2);
        assert_int_equal (step->ranks[1].given.len, 0);
        /* A put of a thread during a fence belongs to the next fence. */
        if (round == 1)
            talk (step, 0, "cmd=put key=k value=w\n",
                  "cmd=put_result rc=0 msg=success\n");
        step_exchange (step);
        for (uint32_t i = 0; i < 2; i++)
            assert_string_equal (step_heard (step, i), BARRIER_OK);
    }
    talk (step, 1, "cmd=get key=k\n", "cmd=get_result rc=0 value=w\n");
    step_destroy (step);
}

static void a_value_put_within_a_fence_is_not_lost_to_an_older_one (void **state)
{
    struct step *step = step_create (2, 2, STEP_BLOCKS);

    (void)state;
    init1 (step);
    step->manual = true;
    talk (step, 0, "cmd=put key=k value=old\n", "cmd=put_result rc=0 msg=success\n");
    for (uint32_t i = 0; i < 2; i++)
        talk (step, i, "cmd=barrier_in\n", "");
    talk (step, 0, "cmd=put key=k value=new\n", "cmd=put_result rc=0 msg=success\n");
    step_exchange (step);
    step_heard (step, 0), step_heard (step, 1);
    talk (step, 1, "cmd=get key=k\n", "cmd=get_result rc=0 value=old\n");
    step->manual = false;
    talk (step, 0, "cmd=barrier_in\n", "");
    talk (step, 1, "cmd=barrier_in\n", BARRIER_OK);
    talk (step, 1, "cmd=get key=k\n", "cmd=get_result rc=0 value=new\n");
    step_destroy (step);
}

static void who_is_gone_breaks_the_fences_that_he_is_not_in (void **state)
{
    struct step *step = step_create (1, 3, STEP_BLOCKS);

    (void)state;
    init1 (step);
    talk (step, 0, "cmd=barrier_in\n", "");
    step_close (step, 2);
    assert_string_equal (step_heard (step, 0), BARRIER_FAILED);
    talk (step, 1, "cmd=barrier_in\n", BARRIER_FAILED);
    assert_int_equal (step->fences, 0);
    assert_true (step_is_unfinished (step, 2));
    step_close (step, 2);
    step_destroy (step);
}

static void who_is_gone_counts_in_the_fence_that_he_is_in (void **state)
{
    struct step *step = step_create (1, 2, STEP_BLOCKS);

    (void)state;
    init1 (step);
    talk (step, 0, "cmd=put key=k value=v\n", "cmd=put_result rc=0 msg=success\n");
    talk (step, 0, "cmd=barrier_in\n", "");
    step_close (step, 0);
    talk (step, 1, "cmd=barrier_in\n", BARRIER_OK);
    talk (step, 1, "cmd=get key=k\n", "cmd=get_result rc=0 value=v\n");
    assert_string_equal (step_heard (step, 0), "");
    talk (step, 1, "cmd=barrier_in\n", BARRIER_FAILED);
    step_destroy (step);
}

static void what_is_no_exchange_fails_the_fence_and_puts_nothing (void **state)
{
    static const struct {
        const char *data;
        size_t len;
    } bad[] = {
        { "x", 1 },
        { "\1\0\0\0\1\0\0", 7 },
        { "\1\0\0\0\1\0\0\0k", 9 },
        { "\0\0\0\0\1\0\0\0v", 9 },
        { "\1\0\0\0\1\0\0\0\0v", 10 },
        { "\1\0\0\0\1\0\0\0k\0", 10 },
        { "\x41\0\0\0\0\0\0\0kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
          "kkkkk",
          73 },
        { "\1\0\0\0\xff\xff\xff\xffkv", 10 },
        { "\xff\xff\xff\xff\x0a\0\0\0kv", 10 },
        { "\1\0\0\0\1\0\0\0kv\1\0\0\0\1\0\0\0k", 19 },
    };
    struct step *step = step_create (1, 1, STEP_BLOCKS);
    struct pmi *pmi = step_pmi (step, 0);

    (void)state;
    init1 (step);
    step->manual = true;
    assert_int_equal (pmi_exchanged (pmi, "", 0, &step->err), -EPROTO);
    assert_non_null (strstr (step->err.text, "in which no task is"));
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        talk (step, 0, "cmd=barrier_in\n", "");
        assert_int_equal (pmi_exchanged (pmi, bad[i].data, bad[i].len, &step->err),
                          -EPROTO);
        assert_string_equal (step_heard (step, 0), BARRIER_FAILED);
        talk (step, 0, "cmd=get key=k\n", "cmd=get_result rc=4 msg=no_such_key\n");
        assert_int_equal (pmi_exchanged (pmi, "", 0, &step->err), -EPROTO);
    }
    talk (step, 0, "cmd=barrier_in\n", "");
    assert_int_equal (pmi_exchanged (pmi, "\1\0\0\0\1\0\0\0kv", 10, &step->err), 0);
    assert_string_equal (step_heard (step, 0), BARRIER_OK);
    talk (step, 0, "cmd=get key=k\n", "cmd=get_result rc=0 value=v\n");
    step_destroy (step);
}

/* The work of a real step of 1,024 tasks on 8 ranks: each puts a key, and each reads
 * all. */
static void a_thousand_tasks_find_each_other (void **state)
{
    struct step *step = step_create (8, 1024, STEP_CYCLIC);

    (void)state;
    for (uint32_t i = 0; i < 1024; i++) {
        char say[256];
        snprintf (say, sizeof (say),
                  INIT1 "cmd=put kvsname=12.0 key=card-%" PRIu32
                        " value=10.0.0.1:%" PRIu32 "\ncmd=barrier_in\n",
                  i, i);
        assert_int_equal (step_say (step, i, say), 0);
    }
    assert_int_equal (step->fences, 1);
    for (uint32_t i = 0; i < 1024; i += 7) {
        step_heard (step, i);
        for (uint32_t j = 0; j < 1024; j++) {
            char say[64], hear[64];
            snprintf (say, sizeof (say), "cmd=get kvsname=12.0 key=card-%" PRIu32 "\n",
                      j);
            snprintf (hear, sizeof (hear),
                      "cmd=get_result rc=0 value=10.0.0.1:%" PRIu32 "\n", j);
            talk (step, i, say, hear);
        }
    }
    talk (step, 0, "cmd=get key=PMI_process_mapping\n",
          "cmd=get_result rc=0 value=(vector,(0,8,1))\n");
    step_destroy (step);
}

/* Where tasks run */

/* Parses a mapping like MPICH 4.0.2; -1: not understood. */
static int node_by_mapping (const char *text, uint32_t task)
{
    uint32_t at = 0;
    int consumed = 0, first, nodes, tasks;

    if (strncmp (text, "(vector,", 8) != 0 || text[strlen (text) - 1] != ')')
        return -1;
    for (const char *p = text + 8;;) {
        if (sscanf (p, "(%d,%d,%d)%n", &first, &nodes, &tasks, &consumed) != 3)
            return -1;
        if (task < at + (uint32_t)(nodes * tasks))
            return first + (int)(task - at) / tasks;
        at += (uint32_t)(nodes * tasks);
        p += consumed + 1;
        if (p[-1] == ')')
            p = text + 8; /* again from node 0 */
    }
}

static void check_mapping (uint32_t nnodes, uint32_t ntasks, const uint32_t *node_of,
                           const char *should_be)
{
    static const struct pmi_events events = { step_on_send, step_on_exchange,
                                              step_on_abort };
    static struct step step;
    uint32_t first = 0;
    struct pmi_config config = { "1", ntasks, 1, &first, node_of, nnodes };
    struct pmi *pmi = pmi_create (&config, &events, &step.ranks[0], &step.err);

    assert_non_null (pmi);
    step.ranks[0].step = &step;
    strbuf_init (&step.heard[0], 65536);
    assert_int_equal (pmi_receive (pmi, 0, INIT1, strlen (INIT1), &step.err), 0);
    strbuf_reset (&step.heard[0]);
    const char *get = "cmd=get key=PMI_process_mapping\n";
    assert_int_equal (pmi_receive (pmi, 0, get, strlen (get), &step.err), 0);
    char *text = step.heard[0].buf + strlen ("cmd=get_result rc=0 value=");
    assert_true (strlen (step.heard[0].buf) < 1024);
    text[strcspn (text, "\n")] = '\0';
    if (should_be && strcmp (text, should_be) != 0)
        fail_msg ("%s, not %s", text, should_be);
    for (uint32_t i = 0; i < ntasks && !should_be; i++)
        assert_int_equal (node_by_mapping (text, i), (int)node_of[i]);
    strbuf_release (&step.heard[0]);
    pmi_destroy (pmi);
}

static void the_mapping_says_where_each_task_is (void **state)
{
    static uint32_t nodes[4096];
    uint32_t chance = 1;
    (void)state;

    check_mapping (3, 5, (uint32_t[]){ 0, 0, 1, 1, 2 }, "(vector,(0,2,2),(2,1,1))");
    check_mapping (4, 4, (uint32_t[]){ 3, 2, 1, 0 },
                   "(vector,(3,1,1),(2,1,1),(1,1,1),(0,1,1))");
    check_mapping (2, 4, (uint32_t[]){ 0, 1, 0, 1 }, "(vector,(0,2,1),(0,2,1))");
    check_mapping (1, 1, (uint32_t[]){ 0 }, "(vector,(0,1,1))");
    for (uint32_t i = 0; i < 4096; i++)
        nodes[i] = i % 7;
    check_mapping (7, 4096, nodes, "(vector,(0,7,1))");
    check_mapping (7, 4093, nodes, "(vector,(0,7,1))");
    for (uint32_t i = 0; i < 4096; i++)
        nodes[i] = i / 3 % 1000;
    check_mapping (1000, 4096, nodes, NULL);
    for (int round = 0; round < 300; round++) {
        uint32_t node = 0;
        for (uint32_t i = 0; i < 40; i++) {
            chance = chance * 1664525 + 1013904223;
            node = chance >> 30 ? node : (chance >> 8) % 5;
            nodes[i] = node;
        }
        check_mapping (5, 40, nodes, NULL);
    }
}

static void a_mapping_that_is_too_long_is_not_there (void **state)
{
    struct step *step = step_create (16, 1024, STEP_BLOCKS);
    uint32_t chance = 1, first = 0;
    struct pmi_config config;

    (void)state;
    step_config (step, 0, &config);
    for (uint32_t i = 0; i < 1024; i++) {
        chance = chance * 1664525 + 1013904223;
        step->node_of[i] = (chance >> 8) % 16;
    }
    config.nlocal = 1;
    config.global = &first;
    pmi_destroy (step->ranks[0].pmi);
    step->ranks[0].pmi = pmi_create (
        &config, &(struct pmi_events){ step_on_send, step_on_exchange, step_on_abort },
        &step->ranks[0], &step->err);
    step->node_of[0] = 0;
    step->ntasks = 1;
    talk (step, 0, INIT1, INIT1_OK);
    talk (step, 0, "cmd=get key=PMI_process_mapping\n",
          "cmd=get_result rc=4 msg=no_such_key\n");
    step_destroy (step);
}

/* Configuration and environment */

static void a_configuration_that_cannot_be_is_refused (void **state)
{
    static const uint32_t global[] = { 0, 1, 9 }, node_of[] = { 0, 0, 5 };
    static const struct {
        struct pmi_config config;
        const char *part;
    } bad[] = {
        { { "", 2, 1, global, node_of, 1 }, "'' is not a name" },
        { { NULL, 2, 1, global, node_of, 1 }, "'' is not a name" },
        { { "a b", 2, 1, global, node_of, 1 }, "'a b' is not a name" },
        { { "a;b", 2, 1, global, node_of, 1 }, "is not a name" },
        { { "0123456789012345678901234567890123456789012345678901234567890123", 2, 1,
            global, node_of, 1 },
          "is not a name" },
        { { "1", 2, 0, global, node_of, 1 }, "0 tasks here" },
        { { "1", 2, 3, global, node_of, 1 }, "3 tasks here, 2 in the step" },
        { { "1", 3, 3, global, node_of, 9 }, "no task 9" },
        { { "1", 3, 1, global, node_of, 5 }, "task 2 is on node 5 of 5" },
    };
    static const struct pmi_events events = { step_on_send, step_on_exchange,
                                              step_on_abort };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        assert_null (pmi_create (&bad[i].config, &events, NULL, &err));
        assert_int_equal (err.code, EINVAL);
        if (!strstr (err.text, bad[i].part))
            fail_msg ("\"%s\" is not in \"%s\"", bad[i].part, err.text);
    }
}

static int collect (void *ctx, const char *name, const char *value)
{
    return strbuf_addf (ctx, "%s=%s\n", name, value);
}

static int stop (void *ctx, const char *name, const char *value)
{
    (void)value;
    return strcmp (name, "PMI_RANK") == 0 ? *(int *)ctx : 0;
}

static void the_environment_says_who_a_task_is (void **state)
{
    struct step *step = step_create (2, 6, STEP_CYCLIC);
    struct pmi_config config;
    struct strbuf sb;
    int why = -7;

    (void)state;
    strbuf_init (&sb, 4096);
    step_config (step, 1, &config);
    assert_int_equal (pmi_environment (&config, 2, 9, collect, &sb), 0);
    assert_string_equal (
        sb.buf, "PMI_JOBID=12.0\nPMI_FD=9\nPMI_RANK=5\nPMI_SIZE=6\nPMI_SPAWNED=0\n");
    assert_int_equal (pmi_environment (&config, 2, 9, stop, &why), -7);
    strbuf_release (&sb);
    step_destroy (step);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_script_of_mpich_is_answered),
        cmocka_unit_test (many_commands_at_once_are_answered_in_order),
        cmocka_unit_test (spawning_is_answered_once_with_an_error),
        cmocka_unit_test (init_of_another_version_fails_and_may_be_tried_again),
        cmocka_unit_test (after_finalize_one_may_begin_again),
        cmocka_unit_test (aborts_are_told_once_and_never_as_success),
        cmocka_unit_test (the_script_of_a_client_of_version_2_is_answered),
        cmocka_unit_test (before_fullinit_nothing_else_is_served),
        cmocka_unit_test (the_length_may_stand_left_or_right),
        cmocka_unit_test (who_waits_for_a_node_attribute_gets_it_when_it_is_put),
        cmocka_unit_test (waits_are_bounded),
        cmocka_unit_test (an_abort_of_version_2_may_be_of_one_task_only),
        cmocka_unit_test (a_fence_ends_for_nobody_before_all_are_in),
        cmocka_unit_test (both_versions_are_in_one_fence_and_see_one_kvs),
        cmocka_unit_test (of_two_values_of_a_key_all_see_the_same),
        cmocka_unit_test (only_what_changed_is_exchanged),
        cmocka_unit_test (a_value_put_within_a_fence_is_not_lost_to_an_older_one),
        cmocka_unit_test (who_is_gone_breaks_the_fences_that_he_is_not_in),
        cmocka_unit_test (who_is_gone_counts_in_the_fence_that_he_is_in),
        cmocka_unit_test (what_is_no_exchange_fails_the_fence_and_puts_nothing),
        cmocka_unit_test (a_thousand_tasks_find_each_other),
        cmocka_unit_test (the_mapping_says_where_each_task_is),
        cmocka_unit_test (a_mapping_that_is_too_long_is_not_there),
        cmocka_unit_test (a_configuration_that_cannot_be_is_refused),
        cmocka_unit_test (the_environment_says_who_a_task_is),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
