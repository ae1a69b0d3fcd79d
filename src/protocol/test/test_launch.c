/* test_launch.c - tests of launch.h: round trips, and truncated or hostile launch
 * files */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "protocol/launch.h"

static char *args[] = { "one", "", "two\nlines", "\xff\x01", NULL };
static char *env[] = { "A=1", "B=", "C=x=y\nz", NULL };
static char *rlimits[] = { "nofile=1024", "core=unlimited", NULL };
static struct launch_node nodes[] = {
    { "n1", 2, "0-3", "", NULL, NULL, 0 },
    { "n2", 3, "", "0,1", "license:2,rdma/hca:1", "nvidia-a100", 0 },
    { "n3", 0, NULL, NULL, NULL, NULL, 0 },
};

static struct launch_stage stage_in[] = {
    { .rank = LAUNCH_ALL_RANKS, .mode = 0750, .from = "/fluxq/job/stage-0", .to = "a b" },
    { .rank = 2, .from = "x: y", .to = "-" },
};
static struct launch_stage stage_out[] = {
    { .rank = 0, .send = true, .from = "r-%n", .to = "/home/ann/r" },
    { .rank = LAUNCH_ALL_RANKS, .from = "r", .to = "r-%n" },
};

static const struct launch full = {
    .job_id = 7,
    .job_name = "hello world",
    .user = "ann",
    .queue = "",
    .cwd = "/home/ann",
    .cwd_fallback = true,
    .batch = true,
    .script = "/tmp/script",
    .args = args,
    .nargs = 4,
    .env = env,
    .nenv = 3,
    .nodes = nodes,
    .nnodes = 3,
    .nodes_requested = (char *)"2-4:2",
    .cores_per_task = 2,
    .cpu_milli_per_task = 1500,
    .mem_mib = 1024,
    .time_limit = 90.5,
    .grace = 0.001,
    .join_timeout = 60,
    .rendezvous = "tcp:job-7:7717",
    .fanout = 3,
    .spool_max = UINT64_C (1) << 40,
    .spool_keep = 5 << 20,
    .serve_until_released = true,
    .once = true,
    .flux = true,
    .output = "",
    .append = true,
    .one_stream = true,
    .input = (char *)"in-%t",
    .stage_in = stage_in,
    .nstage_in = 2,
    .stage_out = stage_out,
    .nstage_out = 2,
    .umask = 077,
    .nice = 5,
    .warn_signal = 10,
    .warn_before = 2.5,
    .warn_batch = true,
    .rlimits = rlimits,
    .nrlimits = 2,
    .user_env = 8,
    .user_env_login = true,
    .home = "/home/ann",
    .shell = "/bin/zsh",
};

static void same_stages (const struct launch_stage *got, const struct launch_stage *want)
{
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal (got[i].rank, want[i].rank);
        assert_int_equal (got[i].mode, want[i].mode);
        assert_int_equal (got[i].send, want[i].send);
        assert_string_equal (got[i].from, want[i].from);
        assert_string_equal (got[i].to, want[i].to);
    }
}

static void test_round_trip (void **state)
{
    struct launch l;
    struct strbuf sb;
    struct error err;

    (void)state;
    strbuf_init (&sb, LAUNCH_MAX);
    assert_int_equal (launch_write (&full, &sb), 0);
    assert_int_equal (launch_parse (sb.buf, sb.len, &l, &err), 0);
    assert_int_equal (l.job_id, 7);
    assert_string_equal (l.job_name, "hello world");
    assert_string_equal (l.user, "ann");
    assert_string_equal (l.queue, "");
    assert_string_equal (l.cwd, "/home/ann");
    assert_true (l.cwd_fallback && l.batch && l.serve_until_released && l.once && l.flux
                 && l.append && l.one_stream);
    assert_string_equal (l.script, "/tmp/script");
    assert_int_equal (l.nargs, 4);
    assert_int_equal (l.nenv, 3);
    for (size_t i = 0; i < 5; i++)
        assert_true (args[i] ? !strcmp (l.args[i], args[i]) : !l.args[i]);
    for (size_t i = 0; i < 4; i++)
        assert_true (env[i] ? !strcmp (l.env[i], env[i]) : !l.env[i]);
    assert_int_equal (l.nnodes, 3);
    assert_string_equal (l.nodes[0].name, "n1");
    assert_string_equal (l.nodes[0].cores, "0-3");
    assert_string_equal (l.nodes[0].gpus, "");
    assert_string_equal (l.nodes[1].gpus, "0,1");
    assert_string_equal (l.nodes[2].cores, "");
    assert_null (l.nodes[0].gres);
    assert_string_equal (l.nodes[1].gres, "license:2,rdma/hca:1");
    assert_null (l.nodes[2].gres);
    assert_null (l.nodes[0].gpu_type);
    assert_string_equal (l.nodes[1].gpu_type, "nvidia-a100");
    assert_null (l.nodes[2].gpu_type);
    assert_string_equal (l.nodes_requested, "2-4:2");
    assert_int_equal (l.cores_per_task, 2);
    assert_int_equal (l.cpu_milli_per_task, 1500);
    assert_int_equal (l.mem_mib, 1024);
    assert_true (l.time_limit == 90.5 && l.grace == 0.001 && l.join_timeout == 60);
    assert_string_equal (l.rendezvous, "tcp:job-7:7717");
    assert_int_equal (l.fanout, 3);
    assert_true (l.spool_max == UINT64_C (1) << 40);
    assert_int_equal (l.spool_keep, 5 << 20);
    assert_int_equal (l.umask, 077);
    assert_int_equal (l.nice, 5);
    assert_true (l.warn_signal == 10 && l.warn_before == 2.5 && l.warn_batch);
    assert_int_equal (l.nrlimits, 2);
    assert_string_equal (l.rlimits[0], "nofile=1024");
    assert_string_equal (l.rlimits[1], "core=unlimited");
    assert_true (l.user_env == 8 && l.user_env_login);
    assert_string_equal (l.home, "/home/ann");
    assert_string_equal (l.shell, "/bin/zsh");
    assert_string_equal (l.output, ""); /* "none" and "not requested" differ */
    assert_string_equal (l.input, "in-%t");
    assert_int_equal (l.nstage_in, 2);
    same_stages (l.stage_in, stage_in);
    assert_int_equal (l.nstage_out, 2);
    same_stages (l.stage_out, stage_out);
    assert_null (l.error);
    assert_null (l.listen);
    assert_int_equal (launch_ntasks (&l), 5);
    assert_int_equal (launch_first_task (&l, 0), 0);
    assert_int_equal (launch_first_task (&l, 1), 2);
    assert_int_equal (launch_first_task (&l, 2), 5);
    launch_release (&l);
    strbuf_release (&sb);
}

/* Each truncated file is refused: an agent never runs half a job. */
static void test_cut_anywhere (void **state)
{
    struct launch l;
    struct strbuf sb;
    struct error err;

    (void)state;
    strbuf_init (&sb, LAUNCH_MAX);
    launch_write (&full, &sb);
    const char *first = memmem (sb.buf, sb.len, "stage_in ", 9);
    assert_non_null (first);
    size_t last = sb.len - strlen ("stage_out 12\n- 000 r\nr-%n\n");
    for (size_t n = 0; n < sb.len; n++) {
        int rc = launch_parse (sb.buf, n, &l, &err);
        if (rc == 0) { /* only between two records, after all required ones */
            assert_true (sb.buf[n - 1] == '\n' && n <= last);
            launch_release (&l);
        } else
            assert_int_equal (rc, -EINVAL);
    }
    strbuf_release (&sb);
}

#define GOOD "job_id 1\n7\ncwd 1\n/\nnode 9\n1 - - n 1\narg 1\nx\n"

static void test_hostile (void **state)
{
    static const struct {
        const char *text, *named;
    } cases[] = {
        { "", "job_id" },
        { "job_id 1\n7\n", "cwd" },
        { GOOD "colour 3\nred\n", "colour" },
        { GOOD "job_id 1\n7\n", "job_id" },
        { GOOD "spool 4294967295\nx\n", "spool" },
        { GOOD "spool 18446744073709551617\nx\n", "spool" },
        { GOOD "spool -1\nx\n", "spool" },
        { GOOD "spool 2\nx\n", "spool" },
        { GOOD "spool 0\nx\n", "spool" },
        { GOOD "spool\nx\n", "spool" },
        { GOOD "spool 1", "spool" },
        { GOOD "spool 1\n", "spool" },
        { GOOD " 1\nx\n", "no length" },
        { GOOD "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1\nx\n",
          "no length" },
        { GOOD "umask 4\n4095\n", "umask" },
        { GOOD "cores_per_task 1\n0\n", "cores_per_task" },
        { GOOD "mem_mib 20\n99999999999999999999\n", "mem_mib" },
        { GOOD "time_limit 2\n-1\n", "time_limit" },
        { GOOD "append 1\n2\n", "append" },
        { GOOD "append 0\n\n", "append" },
        { GOOD "rlimit 6\nnofile\n", "rlimit" },
        { GOOD "rlimit 7\ncore=-1\n", "rlimit" },
        { GOOD "warn_signal 2\n65\n", "warn_signal" },
        { GOOD "stage_in 0\n\n", "stage_in" },
        { GOOD "stage_in 7\n- 000 a\n", "stage_in" },
        { GOOD "stage_in 8\n- 000 a\n\n", "stage_in" },
        { GOOD "stage_in 8\n- 000 \nb\n", "stage_in" },
        { GOOD "stage_in 11\n- 000 a\nb\nc\n", "stage_in" },
        { GOOD "stage_in 9\n- 512 a\nb\n", "stage_in" },
        { GOOD "stage_in 10\n-1 000 a\nb\n", "stage_in" },
        { GOOD "stage_in 18\n2147483648 000 a\nb\n", "stage_in" },
        { GOOD "stage_out 9\n- 002 a\nb\n", "stage_out" },
        { GOOD "stage_out 9\nx 000 a\nb\n", "stage_out" },
        { GOOD "env 1\nA\n", "env" },
        { GOOD "env 2\n=A\n", "env" },
        { GOOD "node 0\n\n", "node" },
        { GOOD "node 5\n1 - -\n", "node" },
        { GOOD "node 7\nx - - n\n", "node" },
        { GOOD "node 16\n4294967295 - - n\n", "node" },
        { GOOD "node 16\n2147483648 - - n\n", "node" }, /* one too many in total */
        { GOOD "component 0\n\n", "nnodes: missing" },
        { GOOD "component 11\nnnodes 1\n0\n\n", "nnodes" },
        { GOOD "component 11\nnnodes 1\n1\n\n", "too few nodes" },
        { GOOD "component 19\nnnodes 1\n1\nenv 1\nA\n\n", "env" },
        { GOOD "component 22\nnnodes 1\n1\nspool 2\nxx\n\n", "spool" },
        { GOOD "batch 1\n1\n", "script" },
        { "job_id 1\n0\n", "job_id" },
        { "job_id 1\n7\ncwd 1\nx\nnode 7\n1 - - n\narg 1\nx\n", "cwd" },
        { "job_id 1\n7\ncwd 1\n/\narg 1\nx\n", "node" },
        { "job_id 1\n7\ncwd 1\n/\nnode 7\n1 - - n\n", "arg" },
    };
    struct launch l;
    struct error err;

    (void)state;
    assert_int_equal (launch_parse (GOOD, strlen (GOOD), &l, &err), 0);
    launch_release (&l);
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        assert_int_equal (launch_parse (cases[i].text, strlen (cases[i].text), &l, &err),
                          -EINVAL);
        if (!strstr (err.text, cases[i].named))
            fail_msg ("case %zu: %s", i, err.text);
    }
    assert_int_equal (launch_parse (GOOD "env 3\nA=\0\n", strlen (GOOD) + 10, &l, &err),
                      -EINVAL);
    assert_non_null (strstr (err.text, "NUL"));
}

static void test_large (void **state)
{
    enum { COUNT = 10000 };
    static char text[COUNT][40];
    static char *many[COUNT + 1];
    char *script = malloc (4 << 20);
    char *big[] = { script, NULL };
    struct launch in = full, out;
    struct strbuf sb;
    struct error err;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        snprintf (text[i], sizeof (text[i]), "NAME_%d=value %d", i, i);
        many[i] = text[i];
    }
    memset (script, 'x', (4 << 20) - 1);
    script[(4 << 20) - 1] = '\0';
    in.env = many;
    in.nenv = COUNT;
    in.args = big;
    in.nargs = 1;
    strbuf_init (&sb, (size_t)2 * LAUNCH_MAX);
    assert_int_equal (launch_write (&in, &sb), 0);
    assert_int_equal (launch_parse (sb.buf, sb.len, &out, &err), 0);
    assert_int_equal (out.nenv, COUNT);
    assert_string_equal (out.env[COUNT - 1], text[COUNT - 1]);
    assert_null (out.env[COUNT]);
    assert_string_equal (out.args[0], script);
    launch_release (&out);

    char *two[] = { script, script, NULL };
    in.args = two;
    in.nargs = 2;
    strbuf_reset (&sb);
    assert_int_equal (launch_write (&in, &sb), -E2BIG);
    strbuf_reset (&sb);
    in.nenv = 0;
    assert_int_equal (launch_write (&in, &sb),
                      -E2BIG); /* because of the few bytes of the heads */
    assert_int_equal (launch_parse (sb.buf, LAUNCH_MAX + 1, &out, &err), -EINVAL);
    strbuf_release (&sb);
    free (script);
}

static void test_write_refuses (void **state)
{
    struct launch_node bad_nodes[] = { nodes[0],
                                       nodes[1],
                                       { "n", 1, "0 1", "", NULL, NULL, 0 } };
    char *bad_limits[] = { "nofile=1", "files=1", NULL };
    char *bad_env[] = { "A=1", "B=2", "NOVALUE", NULL };
    struct strbuf sb;
    struct launch l;

    (void)state;
    strbuf_init (&sb, 1 << 20);
#define REFUSED(member, value)                                                           \
    do {                                                                                 \
        l = full;                                                                        \
        l.member = value;                                                                \
        strbuf_reset (&sb);                                                              \
        assert_int_equal (launch_write (&l, &sb), -EINVAL);                              \
    } while (0)
    REFUSED (job_id, 0);
    REFUSED (job_id, UINT64_MAX);
    REFUSED (cwd, NULL);
    REFUSED (cwd, "relative");
    REFUSED (script, NULL);
    REFUSED (nnodes, 0);
    REFUSED (nodes, bad_nodes);
    REFUSED (env, bad_env);
    REFUSED (cores_per_task, 0);
    REFUSED (time_limit, -1);
    REFUSED (grace, 0.0 / 0.0);
    REFUSED (umask, 01000);
    REFUSED (nice, 20);
    REFUSED (warn_signal, 65);
    REFUSED (user_env, LAUNCH_USER_ENV_MAX + 1);
    REFUSED (rlimits, bad_limits);
#undef REFUSED
    strbuf_release (&sb);
}

/* Nodes of a malleable job are added one by one. */
static void test_nodes_come (void **state)
{
    struct launch_node node = { .name = strdup ("n7"),
                                .ntasks = 3,
                                .cores = strdup ("0-2"),
                                .gpus = strdup (""),
                                .gres = strdup ("hca:1"),
                                .gpu_type = strdup ("a100") };
    struct launch_node again;
    struct launch l = { 0 };
    struct error err = { 0 };
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 65536);
    assert_int_equal (launch_write_node (&node, &sb), 0);
    assert_int_equal (launch_read_node (sb.buf, sb.len, &again, &err), 0);
    assert_string_equal (again.name, "n7");
    assert_string_equal (again.cores, "0-2");
    assert_string_equal (again.gres, "hca:1");
    assert_string_equal (again.gpu_type, "a100");
    assert_int_equal (again.ntasks, 3);
    assert_true (launch_read_node (sb.buf, sb.len - 1, &(struct launch_node){ 0 }, &err)
                 < 0);
    assert_true (launch_read_node ("", 0, &(struct launch_node){ 0 }, &err) < 0);
    assert_int_equal (launch_make_room (&l, 4), 0);
    assert_int_equal (l.nodes_room, 4);
    assert_null (l.nodes[3].name);
    launch_put_node (&l, 3, &again);
    launch_put_node (&l, 3, &node); /* replaces the node */
    assert_null (node.name);
    assert_string_equal (l.nodes[3].name, "n7");
    launch_release (&l);
    strbuf_release (&sb);
}

/* A heterogeneous job: one node, then two, then one. */
static void test_components (void **state)
{
    static struct launch_node four[] = { { .name = "n0", .ntasks = 2, .cores = "0-1" },
                                         { .name = "n1", .ntasks = 1, .component = 1 },
                                         { .name = "n2", .ntasks = 3, .component = 1 },
                                         { .name = "n3", .ntasks = 5, .component = 2 } };
    static struct launch_component further[] = {
        { .nnodes = 2,
          .job_name = "second",
          .nodes_requested = (char *)"2",
          .cores_per_task = 4,
          .cpu_milli_per_task = 3500,
          .gpus_per_task = 2,
          .gpu_share = 3,
          .mem_mib = 300,
          .env = env,
          .nenv = 3 },
        { .nnodes = 1, .cores_per_task = 1 },
    };
    struct launch in = full, l;
    struct launch_component c;
    struct strbuf sb, ordinary;
    struct error err;

    (void)state;
    in.nodes = four;
    in.nnodes = 4;
    strbuf_init (&sb, LAUNCH_MAX);
    strbuf_init (&ordinary, LAUNCH_MAX);
    assert_int_equal (launch_write (&in, &ordinary), 0);
    assert_null (memmem (ordinary.buf, ordinary.len, "component", 9));
    in.components = further;
    in.ncomponents = 2;
    assert_int_equal (launch_write (&in, &sb), 0);
    assert_int_equal (launch_parse (sb.buf, sb.len, &l, &err), 0);
    assert_int_equal (l.ncomponents, 2);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal (l.nodes[i].component, four[i].component);
    assert_int_equal (launch_component_first (&l, 0), 0);
    assert_int_equal (launch_component_first (&l, 1), 1);
    assert_int_equal (launch_component_first (&l, 2), 3);
    c = launch_get_component (&l, 0);
    assert_int_equal (c.nnodes, 1);
    assert_int_equal (c.cores_per_task, 2);
    assert_string_equal (c.job_name, "hello world");
    c = launch_get_component (&l, 1);
    assert_int_equal (c.nnodes, 2);
    assert_string_equal (c.job_name, "second");
    assert_string_equal (c.nodes_requested, "2");
    assert_int_equal (c.cores_per_task, 4);
    assert_int_equal (c.cpu_milli_per_task, 3500);
    assert_int_equal (c.gpus_per_task, 2);
    assert_int_equal (c.gpu_share, 3);
    assert_int_equal (c.mem_mib, 300);
    assert_int_equal (c.nenv, 3);
    assert_string_equal (c.env[2], "C=x=y\nz");
    assert_null (launch_get_component (&l, 2).job_name);
    /* The job's own command has no tasks beyond component 0. */
    assert_int_equal (launch_ntasks (&l), 2);
    assert_int_equal (launch_rank_tasks (&l, 0), 2);
    assert_int_equal (launch_rank_tasks (&l, 2), 0);
    launch_release (&l);
    further[1].nnodes = 0;
    strbuf_reset (&sb);
    assert_int_equal (launch_write (&in, &sb), -EINVAL);
    strbuf_release (&sb);
    strbuf_release (&ordinary);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_components),    cmocka_unit_test (test_nodes_come),
        cmocka_unit_test (test_round_trip),    cmocka_unit_test (test_cut_anywhere),
        cmocka_unit_test (test_hostile),       cmocka_unit_test (test_large),
        cmocka_unit_test (test_write_refuses),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
