/* test_steps.c - a step ends if a node cannot start it (steps.c, stepd.c) */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "shell/step/stepd.h"
#include "shell/step/steps_private.h"

#define CLIENT 7

/* Rank 0 places steps on two nodes, but its local part knows only one of them. */
struct fixture {
    struct loop loop;
    struct launch two, one;
    struct steps *steps;
    struct stepd *stepd;
    struct outbuf starts; /* WIRE_STEP_START for rank 0 */
    int stopped;          /* signals for rank 1 */
    int ends, status;
    char why[256];
};

static void send_down (void *ctx, uint32_t rank, const struct frame *msg)
{
    struct fixture *f = ctx;
    if (msg->type == WIRE_STEP_START && rank == 0)
        wire_put (&f->starts, msg);
    else if (msg->type == WIRE_STEP_SIGNAL && rank == 1)
        f->stopped++;
    else if (msg->type == WIRE_RUN_END) {
        assert_int_equal (msg->task, CLIENT);
        f->ends++;
        f->status = (int)wire_get_u32 (msg->data);
        snprintf (f->why, sizeof (f->why), "%.*s", (int)msg->len - 4, msg->data + 4);
    }
}

static void send_up (void *ctx, const struct frame *msg)
{
    struct fixture *f = ctx;
    assert_true (steps_message (f->steps, 0, msg));
}

static int set_up (void **state)
{
    static struct launch_node nodes[2] = {
        { .name = "node0", .cores = "0", .ntasks = 1 },
        { .name = "node1", .cores = "0", .ntasks = 1 },
    };
    static struct fixture f;
    f = (struct fixture){ .two = { .job_id = 1,
                                   .nodes = nodes,
                                   .nnodes = 2,
                                   .cores_per_task = 1 } };
    f.one = f.two;
    f.one.nnodes = 1;
    if (loop_init (&f.loop) < 0)
        return -1;
    f.steps = steps_create (&f.loop, &f.two, send_down, NULL, &f);
    f.stepd = stepd_create (&f.loop, &f.one, NULL, 0, send_up, &f);
    *state = &f;
    return f.steps && f.stepd ? 0 : -1;
}

static int tear_down (void **state)
{
    struct fixture *f = *state;
    stepd_destroy (f->stepd);
    steps_destroy (f->steps);
    outbuf_release (&f->starts);
    loop_release (&f->loop);
    return 0;
}

static void ask_for_step (struct fixture *f)
{
    static char *args[] = { "true", NULL }, *env[] = { NULL };
    const struct step_spec spec = { .args = args, .nargs = 1, .env = env, .cwd = "/" };
    struct strbuf sb;
    strbuf_init (&sb, STEP_SPEC_MAX);
    assert_int_equal (step_spec_write (&spec, &sb), 0);
    assert_true (steps_message (f->steps, 0,
                                &(struct frame){ .type = WIRE_RUN,
                                                 .stream = 1,
                                                 .task = CLIENT,
                                                 .len = (uint32_t)sb.len,
                                                 .data = sb.buf }));
    strbuf_release (&sb);
}

static void deliver_to_rank_0 (struct fixture *f)
{
    const char *data = f->starts.data + f->starts.off;
    struct frame msg;
    ssize_t n;
    for (size_t pos = 0; (n = wire_parse (data + pos, f->starts.len - pos, &msg)) > 0;
         pos += (size_t)n)
        stepd_message (f->stepd, &msg);
}

static void exit_of_rank_1 (struct fixture *f, int status)
{
    uint8_t data[8];
    wire_put_u32 (data, 1);
    wire_put_u32 (data + 4, (uint32_t)status);
    assert_true (steps_message (f->steps, 1,
                                &(struct frame){ .type = WIRE_STEP_EXIT,
                                                 .rank = 1,
                                                 .len = sizeof (data),
                                                 .data = (char *)data }));
}

static void the_node_that_cannot_start_is_not_waited_for (void **state)
{
    struct fixture *f = *state;
    ask_for_step (f);
    assert_true (f->starts.len > 0);
    deliver_to_rank_0 (f);
    assert_true (f->stopped > 0);
    assert_int_equal (f->ends, 0);
    assert_true (steps_use (f->steps, 1));
    exit_of_rank_1 (f, SIGTERM);
    assert_int_equal (f->ends, 1);
    assert_int_not_equal (f->status, 0);
    assert_non_null (strstr (f->why, "node node0: "));
    assert_false (steps_run (f->steps));
}

static void the_last_node_may_be_the_one_that_cannot_start (void **state)
{
    struct fixture *f = *state;
    ask_for_step (f);
    exit_of_rank_1 (f, 0);
    assert_int_equal (f->ends, 0);
    deliver_to_rank_0 (f);
    assert_int_equal (f->ends, 1);
    assert_int_equal (f->status, 1 << 8);
    assert_false (steps_run (f->steps));
    ask_for_step (f); /* its cores are free again */
    assert_true (steps_run (f->steps));
}

/* Rank 1 tells what its tasks have used so far. */
static bool sample_of_rank_1 (struct fixture *f, uint8_t round, const char *text)
{
    return steps_message (f->steps, 1,
                          &(struct frame){ .type = WIRE_STEP_SAMPLED,
                                           .stream = round,
                                           .rank = 1,
                                           .len = (uint32_t)strlen (text),
                                           .data = text });
}

static bool describes (struct fixture *f, const char *text)
{
    struct strbuf sb;
    strbuf_init (&sb, STEP_SPEC_MAX);
    steps_describe (f->steps, NULL, "", &sb);
    bool has = strstr (sb.buf, text);
    strbuf_release (&sb);
    return has;
}

static void samples_are_those_of_the_round (void **state)
{
    struct fixture *f = *state;
    assert_true (describes (f, "waiting 0\n\n"));
    ask_for_step (f);
    steps_sample (f->steps, 0);
    assert_true (describes (f, "waiting 2\n\nranks 0-1\nstep 0\n"));
    assert_true (sample_of_rank_1 (f, 0, "user 7")); /* of an earlier round */
    assert_true (describes (f, "waiting 2\n"));
    assert_false (sample_of_rank_1 (f, 1, "user x"));
    assert_true (sample_of_rank_1 (f, 1, "user 5"));
    assert_true (describes (f, "waiting 1\n"));
    assert_true (describes (f, "spread user 5 1 5 1 5 1\n"));
    steps_sample (f->steps, 0); /* no second round within a second */
    assert_true (describes (f, "waiting 1\n"));
    deliver_to_rank_0 (f); /* cannot start there */
    exit_of_rank_1 (f, 0);
    assert_true (describes (f, "waiting 0\n"));
    assert_false (describes (f, "step 0"));
}

/* A job of three components: node0; node1 and node2; node3. */
static struct step *step_of_parts (struct fixture *f, struct launch *l)
{
    static struct launch_node four[] = {
        { .name = "node0", .cores = "0-1", .ntasks = 2 },
        { .name = "node1", .cores = "0-3", .ntasks = 1, .component = 1 },
        { .name = "node2", .cores = "0-3", .ntasks = 1, .component = 1 },
        { .name = "node3", .cores = "0", .ntasks = 1, .component = 2 },
    };
    static struct launch_component further[] = { { .nnodes = 2, .cores_per_task = 2 },
                                                 { .nnodes = 1, .cores_per_task = 1 } };
    static char *args[] = { "true", NULL }, *env[] = { "A=1", NULL };
    struct step_spec part = {
        .component = 1, .args = args, .nargs = 1, .cwd = "/", .exact = true
    };
    struct step_spec spec = { .args = args,
                              .nargs = 1,
                              .env = env,
                              .nenv = 1,
                              .parts = &part,
                              .nparts = 1,
                              .cwd = "/" };
    struct strbuf sb;
    struct step *step = calloc (1, sizeof (*step));
    struct error err;

    *l = (struct launch){ .job_id = 1,
                          .nodes = four,
                          .nnodes = 4,
                          .cores_per_task = 1,
                          .components = further,
                          .ncomponents = 2 };
    strbuf_init (&sb, STEP_SPEC_MAX);
    assert_int_equal (step_spec_write (&spec, &sb), 0);
    assert_int_equal (step_spec_parse (sb.buf, sb.len, &step->spec, &err), 0);
    strbuf_reset (&sb);
    spec.component = 1; /* not before that of the part */
    assert_int_equal (step_spec_write (&spec, &sb), 0);
    assert_int_equal (step_spec_parse (sb.buf, sb.len, &spec, &err), -EINVAL);
    strbuf_release (&sb);
    steps_destroy (f->steps);
    f->steps = steps_create (&f->loop, l, send_down, NULL, f);
    return step;
}

static void free_step (struct fixture *f, struct step *step)
{
    for (uint32_t i = 0; i < step->nnodes; i++)
        placement_give (f->steps, &step->nodes[i]);
    free (step->nodes);
    layout_release (&step->layout);
    step_spec_release (&step->spec);
    free (step);
}

static void each_part_is_placed_on_its_component (void **state)
{
    static const uint32_t rank_of[] = { 0, 0, 1, 2 };
    struct fixture *f = *state;
    struct launch l;
    struct error err = { 0 };
    struct step *step = step_of_parts (f, &l), *second = step_of_parts (f, &l);
    size_t n;

    assert_string_equal (step_spec_env (&step->spec, 1, &n)[0], "A=1");
    assert_int_equal (placement_take (f->steps, step, &err), 1);
    assert_int_equal (step->layout.ntasks, 4);
    for (uint32_t t = 0; t < 4; t++)
        assert_int_equal (step->layout.rank[t], rank_of[t]);
    assert_string_equal (step->spec.ranks, "0-2");
    /* The first part takes its whole node, the second one only the cores of its tasks. */
    assert_string_equal (step->spec.cores, "0-1;0-1;0-1");
    assert_int_equal (step->spec.parts[0].cores_per_task, 2);
    /* node1 and node2 have room, node0 has none: nothing is taken. */
    assert_int_equal (placement_take (f->steps, second, &err), 0);
    assert_int_equal (f->steps->places[1].nfree, 2);
    free_step (f, step);
    assert_int_equal (placement_take (f->steps, second, &err), 1);
    free_step (f, second);
    step = step_of_parts (f, &l);
    step->spec.parts[0].component = 3;
    assert_int_equal (placement_take (f->steps, step, &err), -EINVAL);
    assert_non_null (strstr (err.text, "components 0 to 2"));
    free_step (f, step);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (the_node_that_cannot_start_is_not_waited_for,
                                         set_up, tear_down),
        cmocka_unit_test_setup_teardown (each_part_is_placed_on_its_component, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (samples_are_those_of_the_round, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (the_last_node_may_be_the_one_that_cannot_start,
                                         set_up, tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
