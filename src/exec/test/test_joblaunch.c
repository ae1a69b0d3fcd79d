/* test_joblaunch.c - the launch file of a heterogeneous job (joblaunch.h): each component
 * has its own tasks and values */
#include "common/test/unit.h"

#include "exec/joblaunch.h"

#define RESOURCES(nodes, cores)                                                          \
    "\"resources\":[{\"type\":\"node\",\"count\":" #nodes                                \
    ",\"with\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\","                      \
    "\"with\":[{\"type\":\"core\",\"count\":" #cores "}]}]}]"
#define TASKS(command, count)                                                            \
    "\"tasks\":[{\"command\":[\"" command "\"],\"slot\":\"task\",\"count\":{" count "}}" \
    "]"
#define ATTRIBUTES(name, more)                                                           \
    "\"attributes\":{\"system\":{\"cwd\":\"/\",\"job\":{\"name\":\"" name "\"}" more "}" \
    "}"

static const char text[] =
    "{\"version\":1," RESOURCES (1, 2) "," TASKS ("prog", "\"total\":2") "," ATTRIBUTES (
        "first",
        ",\"environment\":{\"A\":\"1\"},\"fluxq\":{\"components\":["
        "{\"version\":1," RESOURCES (2, 3) "," TASKS (
            "prog", "\"per_slot\":1") "," ATTRIBUTES ("second",
                                                      ",\"environment\":{"
                                                      "\"SLURM_B\":\"2\"}") "}]}") "}";

static void each_component_has_its_own_tasks_and_values (void **state)
{
    struct error err = { 0 };
    struct jobspec *js = jobspec_parse (text, strlen (text), &err);
    autoidset struct idset *cores = idset_decode ("0-2", 64, NULL);
    struct rset_rank ranks[] = {
        { .node = (char *)"n0", .cores = cores, .slots = 1 },
        { .node = (char *)"n1",
          .cores = cores,
          .slots = 1,
          .component = 1,
          .memory_mib = 300 },
        { .node = (char *)"n2",
          .cores = cores,
          .slots = 1,
          .component = 1,
          .memory_mib = 300 },
    };
    struct rset r = { .ranks = ranks, .nranks = 3 };
    struct launch l;

    (void)state;
    if (!js)
        fail_msg ("%s", err.text);
    const struct exec_job job = { .id = 7, .js = js, .r = &r, .user.name = "ann" };
    assert_int_equal (joblaunch_fill (&job, &l, &err), 0);
    assert_int_equal (l.nnodes, 3);
    assert_int_equal (l.ncomponents, 1);
    assert_int_equal (l.nodes[0].ntasks, 2);
    assert_int_equal (l.nodes[1].ntasks, 1);
    assert_int_equal (l.nodes[2].ntasks, 1);
    assert_int_equal (l.nodes[0].component, 0);
    assert_int_equal (l.nodes[2].component, 1);
    assert_int_equal (launch_ntasks (&l), 2);
    assert_string_equal (l.job_name, "first");
    assert_int_equal (l.cores_per_task, 2);
    assert_int_equal (l.nenv, 1);
    assert_int_equal (l.mem_mib, 0);
    const struct launch_component *c = &l.components[0];
    assert_int_equal (c->nnodes, 2);
    assert_string_equal (c->job_name, "second");
    assert_string_equal (c->nodes_requested, "2");
    assert_int_equal (c->cores_per_task, 3);
    assert_int_equal (c->mem_mib, 300);
    assert_int_equal (c->nenv, 1);
    assert_string_equal (c->env[0], "SLURM_B=2");
    launch_release (&l);
    jobspec_destroy (js);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_component_has_its_own_tasks_and_values),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
