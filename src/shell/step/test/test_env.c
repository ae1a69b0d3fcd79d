/* test_env.c - tests of env.h: the variables of a task, and their values */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/macros.h"
#include "shell/step/env.h"
#include "shell/step/step_spec.h"

static struct launch_node nodes[] = {
    { (char *)"n1", 4, (char *)"0-3", (char *)"", NULL, NULL, 0 },
    { (char *)"n2", 4, (char *)"4-7", (char *)"0,2-3", (char *)"license:2", NULL, 0 },
    { (char *)"n4", 3, (char *)"", (char *)"", NULL, NULL, 0 },
};

static struct env_context make_context (char **env)
{
    static struct launch l;
    l = (struct launch){ .job_id = 42,
                         .job_name = (char *)"name",
                         .user = (char *)"root",
                         .queue = (char *)"batch",
                         .cwd = (char *)"/home/ann",
                         .nodes = nodes,
                         .nnodes = ARRAY_SIZE (nodes),
                         .nodes_requested = (char *)"2-4",
                         .cores_per_task = 2,
                         .cpu_milli_per_task = 1500,
                         .env = env };
    while (env && env[l.nenv])
        l.nenv++;
    return (
        struct env_context){ .launch = &l, .rank = 1, .task = 5, .local = 1, .cwd = "/" };
}

static const char *value_of (char **envp, const char *name)
{
    const char *found = NULL;
    for (; *envp; envp++) {
        size_t len = strlen (name);
        if (strncmp (*envp, name, len) == 0 && (*envp)[len] == '=') {
            assert_null (found); /* a name must not occur twice */
            found = *envp + len + 1;
        }
    }
    return found;
}

static void expect (char **envp, const char *name, const char *value)
{
    const char *found = value_of (envp, name);
    if (!value && found)
        fail_msg ("%s should not be set", name);
    if (value && (!found || strcmp (found, value) != 0))
        fail_msg ("%s is %s, not %s", name, found ? found : "absent", value);
}

static void scripts_find_the_names_that_they_read (void **state)
{
    (void)state;
    struct env_context ctx = make_context (NULL);
    char **envp = env_make (&ctx, NULL);
    assert_non_null (envp);
    expect (envp, "SLURM_JOB_ID", "42");
    expect (envp, "SLURM_JOB_NODELIST", "n[1-2,4]");
    expect (envp, "FLUXQ_NNODES", "3");
    expect (envp, "FLUXQ_CPUS_PER_TASK", "2");
    expect (envp, "FLUXQ_CPU_MILLI_PER_TASK", "1500");
    expect (envp, "FLUXQ_NODES_REQUESTED", "2-4");
    expect (envp, "SLURM_TASKS_PER_NODE", "4(x2),3");
    expect (envp, "SLURM_JOB_CPUS_PER_NODE", "4(x2),5");
    expect (envp, "SLURM_NTASKS", "11");
    expect (envp, "SLURM_PROCID", "5");
    expect (envp, "SLURM_LOCALID", "1");
    expect (envp, "SLURM_NODEID", "1");
    expect (envp, "FLUX_JOB_NNODES", "3");
    expect (envp, "FLUXQ_SUBMIT_DIR", "/home/ann");
    expect (envp, "PWD", "/");
    free_strings (envp);
}

static void what_does_not_apply_is_not_set (void **state)
{
    (void)state;
    struct env_context ctx = make_context (NULL);
    ctx.rank = 0;
    char **envp = env_make (&ctx, NULL);
    expect (envp, "CUDA_VISIBLE_DEVICES", NULL);
    expect (envp, "FLUXQ_JOB_END_TIME", NULL);
    free_strings (envp);
    ctx.rank = 1;
    ctx.end_time = 1700000000;
    envp = env_make (&ctx, NULL);
    expect (envp, "CUDA_VISIBLE_DEVICES", "0,2,3");
    expect (envp, "FLUXQ_JOB_END_TIME", "1700000000");
    free_strings (envp);
}

static void fluxq_wins_over_the_user_and_the_user_over_defaults (void **state)
{
    (void)state;
    char *env[] = { (char *)"SLURM_JOB_ID=1",
                    (char *)"A=1",
                    (char *)"A=2",
                    (char *)"CUDA_VISIBLE_DEVICES=mine",
                    (char *)"HOME=/else",
                    (char *)"AB=3",
                    (char *)"PATH=/bin",
                    NULL };
    struct env_context ctx = make_context (env);
    ctx.rank = 0; /* no GPUs: the user's CUDA_VISIBLE_DEVICES stays */
    char **envp = env_make (&ctx, NULL);
    expect (envp, "SLURM_JOB_ID", "42");
    expect (envp, "A", "2");
    expect (envp, "AB", "3");
    expect (envp, "CUDA_VISIBLE_DEVICES", "mine");
    expect (envp, "HOME", "/else");
    expect (envp, "PATH", "/bin");
    expect (envp, "USER", "root");
    expect (envp, "SHELL", "/bin/bash");
    free_strings (envp);
}

static void a_user_unknown_here_still_gets_the_basics (void **state)
{
    (void)state;
    struct env_context ctx = make_context (NULL);
    struct launch l = *ctx.launch;
    l.user = (char *)"no-such-user-here";
    ctx.launch = &l;
    ctx.default_path = "/image/bin";
    char **envp = env_make (&ctx, NULL);
    expect (envp, "HOME", "/");
    expect (envp, "SHELL", "/bin/sh");
    expect (envp, "LOGNAME", "no-such-user-here");
    expect (envp, "PATH", "/image/bin");
    free_strings (envp);
}

static void in_a_flux_instance_its_own_names_hold (void **state)
{
    (void)state;
    char *env[] = { (char *)"FLUX_URI=local:///of/the/login/node", (char *)"PATH=/bin",
                    NULL };
    struct env_context ctx = make_context (env);
    struct launch l = *ctx.launch;
    l.flux = true;
    ctx.launch = &l;
    ctx.default_path = "/view/bin";
    setenv ("FLUX_URI", "local:///run/flux/local", 1);
    char **envp = env_make (&ctx, NULL);
    expect (envp, "FLUX_URI", "local:///run/flux/local");
    expect (envp, "FLUX_JOB_ID", NULL);
    expect (envp, "OMPI_MCA_pmix", NULL);
    expect (envp, "FLUXQ_JOB_ID", "42");
    expect (envp, "PATH", "/bin:/view/bin");
    free_strings (envp);
    l.flux = false; /* elsewhere the agent's own environment does not count */
    envp = env_make (&ctx, NULL);
    expect (envp, "FLUX_URI", "local:///of/the/login/node");
    expect (envp, "FLUX_JOB_ID", "42");
    expect (envp, "PATH", "/bin");
    free_strings (envp);
    unsetenv ("FLUX_URI");
}

static void an_account_without_login_gets_a_shell_that_works (void **state)
{
    (void)state;
    struct env_context ctx = make_context (NULL);
    struct launch l = *ctx.launch;
    l.user = (char *)"nobody"; /* has nologin or false everywhere */
    ctx.launch = &l;
    char **envp = env_make (&ctx, NULL);
    expect (envp, "SHELL", "/bin/sh");
    free_strings (envp);
}

/* JAX, Lightning and torchrun scripts connect to the first of these names. */
static void in_pods_names_can_be_resolved (void **state)
{
    (void)state;
    struct env_context ctx = make_context (NULL);
    struct launch l = *ctx.launch;
    l.listen = (char *)"tcp:0.0.0.0:7717";
    l.rendezvous = (char *)"tcp:j-%r.j.ns.svc.c.:7717";
    l.spool = (char *)"/run/spool";
    ctx.launch = &l;
    char **envp = env_make (&ctx, NULL);
    assert_non_null (envp);
    expect (envp, "SLURM_NODELIST", "j-0.j.ns.svc.c,j-1.j.ns.svc.c,j-2.j.ns.svc.c");
    expect (envp, "SLURM_JOB_NODELIST", "j-0.j.ns.svc.c,j-1.j.ns.svc.c,j-2.j.ns.svc.c");
    expect (envp, "SLURMD_NODENAME", "j-1.j.ns.svc.c");
    expect (envp, "FLUXQ_NODELIST", "n[1-2,4]");
    expect (envp, "FLUXQ_MASTER_ADDR", "j-0.j.ns.svc.c");
    expect (envp, "FLUXQ_HOSTFILE", "/run/hostfile");
    expect (envp, "OMPI_MCA_orte_default_hostfile", NULL);
    free_strings (envp);
}

/* A heterogeneous job: n1, then n2 and n4. */
static struct env_context make_het_context (char **env)
{
    static struct launch_node three[] = {
        { .name = (char *)"n1", .ntasks = 2, .cores = (char *)"0-1" },
        { .name = (char *)"n2", .ntasks = 1, .cores = (char *)"0-3", .component = 1 },
        { .name = (char *)"n4", .ntasks = 1, .cores = (char *)"0-3", .component = 1 },
    };
    static char *own[] = { (char *)"SLURM_NTASKS_PER_NODE=1", NULL };
    static struct launch_component second = { .nnodes = 2,
                                              .job_name = (char *)"second",
                                              .cores_per_task = 4,
                                              .mem_mib = 300,
                                              .env = own,
                                              .nenv = 1 };
    static struct launch l;

    l = *make_context (env).launch;
    l.nodes = three;
    l.cpu_milli_per_task = 0;
    l.batch = true;
    l.components = &second;
    l.ncomponents = 1;
    return (struct env_context){ .launch = &l, .cwd = "/" };
}

static void a_script_has_its_component_and_the_others_beside (void **state)
{
    (void)state;
    char *env[] = { (char *)"SLURM_JOB_ACCOUNT=users", (char *)"SLURM_MEM_PER_CPU=100",
                    (char *)"SLURM_JOB_ID_HET_GROUP_3=9", /* of an outer job */
                    (char *)"SLURM_HET_SIZE=9", NULL };
    struct env_context ctx = make_context (env);
    char **envp = env_make (&ctx, NULL);
    expect (envp, "SLURM_HET_SIZE", NULL);
    expect (envp, "SLURM_JOB_ID_HET_GROUP_0", NULL);
    expect (envp, "SLURM_JOB_ID_HET_GROUP_3", NULL);
    free_strings (envp);
    ctx = make_het_context (env);
    envp = env_make (&ctx, NULL);
    expect (envp, "SLURM_HET_SIZE", "2");
    expect (envp, "SLURM_PACK_SIZE", "2");
    expect (envp, "SLURM_JOB_NUM_NODES", "1");
    expect (envp, "SLURM_JOB_NODELIST", "n1");
    expect (envp, "SLURM_NTASKS", "2");
    expect (envp, "SLURM_JOB_CPUS_PER_NODE", "2");
    expect (envp, "FLUXQ_NODELIST", "n[1-2,4]");
    expect (envp, "SLURM_NTASKS_PER_NODE", NULL);
    expect (envp, "SLURM_JOB_ID_HET_GROUP_0", "42");
    expect (envp, "SLURM_JOB_ID_HET_GROUP_1", "42");
    expect (envp, "SLURM_JOB_ID_HET_GROUP_3", NULL);
    expect (envp, "SLURM_JOB_ACCOUNT_HET_GROUP_0", "users");
    expect (envp, "SLURM_JOB_ACCOUNT_HET_GROUP_1", "users");
    expect (envp, "SLURM_JOB_NAME_HET_GROUP_0", "name");
    expect (envp, "SLURM_JOB_NAME_HET_GROUP_1", "second");
    expect (envp, "SLURM_JOB_NODELIST_HET_GROUP_0", "n1");
    expect (envp, "SLURM_JOB_NODELIST_HET_GROUP_1", "n[2,4]");
    expect (envp, "SLURM_JOB_NODELIST_PACK_GROUP_1", "n[2,4]");
    expect (envp, "SLURM_JOB_NUM_NODES_HET_GROUP_1", "2");
    expect (envp, "SLURM_NTASKS_HET_GROUP_0", "2");
    expect (envp, "SLURM_NTASKS_HET_GROUP_1", "2");
    expect (envp, "SLURM_TASKS_PER_NODE_HET_GROUP_1", "1(x2)");
    expect (envp, "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1", "4(x2)");
    expect (envp, "SLURM_CPUS_PER_TASK_HET_GROUP_0", "2");
    expect (envp, "SLURM_CPUS_PER_TASK_HET_GROUP_1", "4");
    expect (envp, "SLURM_MEM_PER_CPU_HET_GROUP_0", "100");
    expect (envp, "SLURM_MEM_PER_CPU_HET_GROUP_1", NULL);
    expect (envp, "SLURM_MEM_PER_NODE_HET_GROUP_0", NULL);
    expect (envp, "SLURM_MEM_PER_NODE_HET_GROUP_1", "300");
    expect (envp, "SLURM_NTASKS_PER_NODE_HET_GROUP_0", NULL);
    expect (envp, "SLURM_NTASKS_PER_NODE_HET_GROUP_1", "1");
    free_strings (envp);
}

static void a_step_has_the_nodes_of_its_components (void **state)
{
    (void)state;
    char *client[] = { (char *)"A=1", (char *)"SLURM_NTASKS_PER_NODE=7", NULL };
    struct env_context ctx = make_het_context (NULL);
    static const uint32_t rank_of[] = { 0, 0, 1, 2 }, ranks[] = { 0, 1, 2 };
    struct step_spec part = { .component = 1, .cores_per_task = 3, .cwd = (char *)"/" };
    struct step_spec spec = { .env = client,
                              .nenv = 2,
                              .cores_per_task = 1,
                              .parts = &part,
                              .nparts = 1,
                              .taskmap = (char *)"",
                              .cores = (char *)"0-1;0-2;0-2",
                              .gpu_ids = (char *)";;" };
    struct env_step step = { .spec = &spec,
                             .part = &part,
                             .node = 2,
                             .ntasks = 4,
                             .rank_of = rank_of,
                             .ranks = ranks,
                             .nnodes = 3 };
    ctx.step = &step;
    ctx.rank = 2;
    ctx.task = 3;
    char **envp = env_make (&ctx, NULL);
    expect (envp, "A", "1");
    expect (envp, "SLURM_NTASKS", "4");
    expect (envp, "SLURM_JOB_NUM_NODES", "3");
    expect (envp, "SLURM_JOB_NODELIST", "n[1-2,4]");
    expect (envp, "SLURM_TASKS_PER_NODE", "2,1(x2)");
    expect (envp, "SLURM_JOB_CPUS_PER_NODE", "2,4(x2)");
    expect (envp, "SLURM_JOB_NAME", "second");
    expect (envp, "SLURM_CPUS_PER_TASK", "3");
    expect (envp, "SLURM_NTASKS_PER_NODE", "1"); /* of the component */
    expect (envp, "SLURM_GTIDS", "3");
    expect (envp, "SLURM_HET_SIZE", "2");
    free_strings (envp);
    spec.component = 1; /* of this component only */
    spec.nparts = 0;
    step = (struct env_step){ .spec = &spec,
                              .part = &spec,
                              .node = 1,
                              .ntasks = 2,
                              .rank_of = rank_of + 1,
                              .ranks = ranks + 1,
                              .nnodes = 2 };
    ctx.task = 1;
    envp = env_make (&ctx, NULL);
    expect (envp, "SLURM_JOB_NUM_NODES", "2");
    expect (envp, "SLURM_JOB_NODELIST", "n[2,4]");
    expect (envp, "SLURM_JOB_CPUS_PER_NODE", "4(x2)");
    expect (envp, "SLURM_JOB_ID", "42");
    free_strings (envp);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_script_has_its_component_and_the_others_beside),
        cmocka_unit_test (a_step_has_the_nodes_of_its_components),
        cmocka_unit_test (in_pods_names_can_be_resolved),
        cmocka_unit_test (scripts_find_the_names_that_they_read),
        cmocka_unit_test (what_does_not_apply_is_not_set),
        cmocka_unit_test (fluxq_wins_over_the_user_and_the_user_over_defaults),
        cmocka_unit_test (a_user_unknown_here_still_gets_the_basics),
        cmocka_unit_test (in_a_flux_instance_its_own_names_hold),
        cmocka_unit_test (an_account_without_login_gets_a_shell_that_works),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
