/* test_jobspec.c - the parser of jobspecs: forms that RFC 14 and 25 allow, refusals and
 * their messages, and the resulting sizes */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "jobspec/jobspec.h"

#define TASK(slot, count)                                                                \
    "[{\"command\":[\"/bin/app\"],\"slot\":\"" slot "\",\"count\":{" count "}}]"
#define ONE TASK ("t", "\"per_slot\":1")
#define CORE(n) "{\"type\":\"core\",\"count\":" n "}"
#define SLOT(n, with)                                                                    \
    "{\"type\":\"slot\",\"label\":\"t\",\"count\":" n ",\"with\":[" with "]}"
#define NODE(n, with) "{\"type\":\"node\",\"count\":" n ",\"with\":[" with "]}"
#define DOC(resources, tasks, system)                                                    \
    "{\"version\":1,\"resources\":[" resources "],\"tasks\":" tasks                      \
    ",\"attributes\":{\"system\":{" system "}}}"
#define SIMPLE(system) DOC (SLOT ("1", CORE ("1")), ONE, system)
#define SCRIPT(system)                                                                   \
    DOC (SLOT ("1", CORE ("1")),                                                         \
         "[{\"command\":[\"{{tmpdir}}/"                                                  \
         "script\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}]",                        \
         system)
#define FILE_OBJECT(rest) "\"files\":{\"script\":{\"mode\":33216," rest "}}"

static struct jobspec *parse (const char *text)
{
    struct error err = { 0 };
    struct jobspec *js = jobspec_parse (text, strlen (text), &err);

    if (!js)
        fail_msg ("%s: %s", text, err.text);
    return js;
}

/* -- sizes -- */

struct sizes_case {
    const char *text;
    struct jobspec_sizes s;
};

#define MAX_COUNT 2147483647

/* The shapes of the RFCs' own examples, and elastic, nested and absurd shapes. */
static const struct sizes_case sizes_cases[] = {
    /* RFC 25 example 1 and use cases 2.1, 2.2, 2.3, 2.4 */
    { DOC (NODE ("4", SLOT ("1", CORE ("2"))), ONE, "\"duration\":3600.0"),
      { 4, 4, 4, 4, 8, 8, 0, 0, 2, 0, 0, 0 } },
    { DOC (NODE ("4", SLOT ("1", CORE ("1"))), TASK ("t", "\"total\":5"), ""),
      { 4, 4, 4, 4, 4, 4, 0, 0, 1, 0, 0, 0 } },
    { DOC (SLOT ("10", CORE ("2")), ONE, ""),
      { 1, 10, 10, 10, 20, 20, 0, 0, 2, 0, 0, 0 } },
    { DOC (SLOT ("10", CORE ("2") ",{\"type\":\"gpu\",\"count\":1}"), ONE, ""),
      { 1, 10, 10, 10, 20, 20, 10, 10, 2, 0, 0, 0 } },
    { DOC (NODE ("4", SLOT ("4", CORE ("1") ",{\"type\":\"gpu\",\"count\":1}")), ONE, ""),
      { 4, 4, 16, 16, 16, 16, 16, 16, 1, 0, 0, 0 } },
    /* RFC 14 example 2; 1.2: 3 to 30 nodes inside of slots; 1.3: open ends; 1.7 without
     * per_resource; 2.6: memory in a node */
    { DOC (SLOT ("4", "{\"type\":\"node\",\"count\":1}"), ONE, ""),
      { 4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0 } },
    { DOC (SLOT ("{\"min\":3,\"max\":30,\"operator\":\"+\",\"operand\":1}",
                 "{\"type\":\"node\",\"count\":1}"),
           ONE, ""),
      { 3, 30, 3, 30, 0, 0, 0, 0, 0, 0, 0, 0 } },
    { DOC (SLOT ("4", "{\"type\":\"node\",\"exclusive\":false,\"count\":1,\"with\":["
                      "{\"type\":\"socket\",\"count\":{\"min\":2},\"with\":[" CORE (
                          "{\"min\":4}") "]}]}"),
           ONE, ""),
      { 4, 4, 4, 4, 32, INT64_MAX, 0, 0, 8, 0, 0, 0 } },
    { DOC ("{\"type\":\"switch\",\"count\":3,\"with\":[" SLOT ("1", CORE ("1")) "]}", ONE,
           ""),
      { 1, 3, 3, 3, 3, 3, 0, 0, 1, 0, 0, 0 } },
    { DOC (
          SLOT ("2",
                "{\"type\":\"node\",\"count\":1,\"with\":[{\"type\":\"memory\",\"count\":"
                "{\"min\":4},\"unit\":\"GB\"}]}"),
          TASK ("t", "\"total\":10"), ""),
      { 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0 } },
    /* 3, 5, 7; 2, 6, 18; 2, 4, 16, 256; 4, 9, 16; 1, 2, 3 */
    { DOC (NODE ("{\"min\":3,\"max\":7,\"operator\":\"+\",\"operand\":2}",
                 SLOT ("2", CORE ("1"))),
           ONE, ""),
      { 3, 7, 6, 14, 6, 14, 0, 0, 1, 0, 0, 0 } },
    { DOC (NODE ("\"2-18:3:*\"", SLOT ("1", CORE ("1"))), ONE, ""),
      { 2, 18, 2, 18, 2, 18, 0, 0, 1, 0, 0, 0 } },
    { DOC (NODE ("\"[2-256:2:^]\"", SLOT ("1", CORE ("1"))), ONE, ""),
      { 2, 256, 2, 256, 2, 256, 0, 0, 1, 0, 0, 0 } },
    { DOC (NODE ("\"4,9,16\"", SLOT ("1", CORE ("\"1,2-3\""))), ONE, ""),
      { 4, 16, 4, 16, 4, 48, 0, 0, 1, 0, 0, 0 } },
    { DOC (NODE ("\"4+\"", SLOT ("1", CORE ("1"))), ONE, ""),
      { 4, MAX_COUNT, 4, MAX_COUNT, 4, MAX_COUNT, 0, 0, 1, 0, 0, 0 } },
    { DOC (NODE ("\"4\"", SLOT ("1", CORE ("\"2-3\""))), ONE, ""),
      { 4, 4, 4, 4, 8, 12, 0, 0, 2, 0, 0, 0 } },
    /* other slots are resources without tasks */
    { DOC ("{\"type\":\"node\",\"count\":1,\"with\":[" SLOT (
               "10",
               CORE ("1")) ",{\"type\":\"slot\","
                           "\"label\":\"db\",\"count\":1,\"with\":[" CORE ("6") "]}]}",
           ONE, ""),
      { 1, 1, 10, 10, 16, 16, 0, 0, 1, 0, 0, 0 } },
    /* products over 2^63 */
    { DOC (NODE ("2147483647", SLOT ("2147483647", CORE ("2147483647"))), ONE, ""),
      { MAX_COUNT, MAX_COUNT, 4611686014132420609, 4611686014132420609, INT64_MAX,
        INT64_MAX, 0, 0, MAX_COUNT, 0, 0, 0 } },
};

static void test_sizes (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (sizes_cases); i++) {
        struct jobspec *js = parse (sizes_cases[i].text);
        struct jobspec_sizes s;

        jobspec_get_sizes (js, &s);
        if (memcmp (&s, &sizes_cases[i].s, sizeof (s)))
            fail_msg ("case %zu: nodes %jd-%jd slots %jd-%jd cores %jd-%jd gpus %jd-%jd, "
                      "%jd a slot",
                      i, s.min_nodes, s.max_nodes, s.min_slots, s.max_slots, s.min_cores,
                      s.max_cores, s.min_gpus, s.max_gpus, s.cores_per_slot);
        jobspec_destroy (js);
    }
}

/* the largest allowed size, found by trying all of them */
static int64_t slow_fit (const struct jobspec_count *c, int64_t limit)
{
    int64_t best = 0;

    for (int64_t v = c->min; v <= c->max && v <= limit;) {
        int64_t next = v;

        best = v;
        if (c->op == '+')
            next = v + c->operand;
        else if (c->op == '*')
            next = v * c->operand;
        else
            for (int64_t i = 1; i < c->operand; i++)
                next *= v;
        v = next;
    }
    return best;
}

static void test_count_fit (void **state)
{
    static const char ops[] = "+*^";

    (void)state;
    for (const char *op = ops; *op; op++) {
        for (int64_t min = *op == '^' ? 2 : 1; min < 12; min++) {
            for (int64_t max = min; max < 300; max += 7) {
                for (int64_t operand = *op == '+' ? 1 : 2; operand < 5; operand++) {
                    struct jobspec_count c = { min, max, *op, operand };

                    for (int64_t limit = 0; limit < 310; limit += 3)
                        assert_int_equal (jobspec_count_fit (&c, limit),
                                          slow_fit (&c, limit));
                }
            }
        }
    }
    /* the search ends, and does not overflow */
    assert_int_equal (
        jobspec_count_fit (&(struct jobspec_count){ 2, MAX_COUNT, '^', MAX_COUNT },
                           INT64_MAX),
        2);
    assert_int_equal (
        jobspec_count_fit (&(struct jobspec_count){ 1, MAX_COUNT, '*', 2 }, INT64_MAX),
        1 << 30);
    assert_int_equal (
        jobspec_count_fit (&(struct jobspec_count){ 1, MAX_COUNT, '+', 1 }, -5), 0);
}

static void test_task_total (void **state)
{
    struct jobspec *js =
        parse (DOC (SLOT ("4", CORE ("1")), TASK ("t", "\"per_slot\":5"), ""));

    (void)state;
    assert_int_equal (jobspec_task_total (js, 4), 20);
    assert_int_equal (jobspec_task_total (js, INT64_MAX), INT64_MAX);
    jobspec_destroy (js);
    js = parse (DOC (SLOT ("4", CORE ("1")), TASK ("t", "\"total\":5"), ""));
    assert_int_equal (jobspec_task_total (js, 4), 5);
    jobspec_destroy (js);
}

static void test_memory_units (void **state)
{
    int64_t mib = 0;

    (void)state;
    assert_int_equal (jobspec_memory_mib (NULL, 7, &mib), 0);
    assert_int_equal (mib, 7);
    assert_int_equal (jobspec_memory_mib ("GiB", 2, &mib), 0);
    assert_int_equal (mib, 2048);
    assert_int_equal (jobspec_memory_mib ("GB", 1, &mib), 0);
    assert_int_equal (mib, 954); /* 953.67 rounded up: never less than asked */
    assert_int_equal (jobspec_memory_mib ("B", 1, &mib), 0);
    assert_int_equal (mib, 1);
    assert_int_equal (jobspec_memory_mib ("PiB", MAX_COUNT, &mib), -ERANGE);
    assert_int_equal (jobspec_memory_mib ("furlong", 1, &mib), -EINVAL);
}

/* -- accepted jobspecs -- */

static void test_attributes (void **state)
{
    struct jobspec *js = parse (
        SIMPLE ("\"duration\":60,\"queue\":\"batch\",\"cwd\":\"/home/"
                "ann\",\"job\":{\"name\":\"hello\"},"
                "\"environment\":{\"HOME\":\"/home/ann\",\"GONE\":null,\"E\":\"\"},"
                "\"shell\":{\"verbose\":2,\"options\":{\"output\":{\"stdout\":{\"type\":"
                "\"file\",\"path\":"
                "\"%x-%j.out\"},\"stderr\":{\"path\":\"%j.err\"},\"mode\":\"append\"},"
                "\"input\":{\"stdin\":{\"type\":\"file\",\"path\":\"in-%j\"}},"
                "\"stage-in\":[{\"from\":\"d/i:n\"},{\"from\":\"a\",\"to\":\"/b\"}],"
                "\"stage-out\":[{\"from\":\"r\",\"to\":\"r-%n\"}]}},"
                "\"constraints\":{\"properties\":[\"ssd\"]},\"unheard-of\":[1],"
                "\"fluxq\":{\"image\":\"busybox:1\",\"memory-per-node\":512}"));

    (void)state;
    assert_true (js->has_duration);
    assert_true (js->duration == 60.);
    assert_string_equal (js->queue, "batch");
    assert_string_equal (js->cwd, "/home/ann");
    assert_string_equal (js->name, "hello");
    assert_string_equal (js->output, "%x-%j.out");
    assert_string_equal (js->error, "%j.err");
    assert_string_equal (js->input, "in-%j");
    assert_int_equal (js->stage_in.n, 2);
    assert_string_equal (js->stage_in.v[0].from, "d/i:n");
    assert_string_equal (js->stage_in.v[0].to, "i:n");
    assert_string_equal (js->stage_in.v[1].to, "/b");
    assert_int_equal (js->stage_out.n, 1);
    assert_string_equal (js->stage_out.v[0].to, "r-%n");
    assert_true (js->append);
    assert_string_equal (js->image, "busybox:1");
    assert_int_equal (js->memory_per_node, 512);
    assert_non_null (json_object_get (js->constraints, "properties"));
    /* "unset" of a variable that was never set: no entry, and above all no entry
     * that is not a string */
    assert_int_equal (json_object_size (js->environment), 2);
    assert_string_equal (json_string_value (json_object_get (js->environment, "HOME")),
                         "/home/ann");
    assert_false (jobspec_is_batch (js));
    jobspec_destroy (js);
}

static void test_absent_attributes (void **state)
{
    struct jobspec *js = parse (SIMPLE (""));

    (void)state;
    assert_false (js->has_duration);
    assert_true (js->duration == 0.);
    assert_string_equal (js->name, "app");
    assert_null (js->queue);
    assert_null (js->environment);
    assert_null (js->output);
    assert_null (js->input);
    assert_false (js->append);
    assert_int_equal (js->memory_per_node, 0);
    assert_int_equal (js->resources[0].exclusive, JOBSPEC_UNSET);
    assert_int_equal (js->ncommand, 1);
    assert_null (js->command[1]);
    jobspec_destroy (js);
    /* the schemas allow null here */
    js = parse ("{\"version\":999,\"resources\":[" SLOT (
        "1", CORE ("1")) "],\"tasks\":" ONE ",\"attributes\":null}");
    jobspec_destroy (js);
}

static void test_script_file (void **state)
{
    struct jobspec *js;

    (void)state;
    js = parse (SCRIPT (FILE_OBJECT (
        "\"size\":18,\"encoding\":\"utf-8\",\"data\":\"#!/bin/sh\\necho \xc3\xa9\\n\"")));
    assert_true (jobspec_is_batch (js));
    assert_int_equal (js->script_len, 18);
    assert_string_equal (js->script, "#!/bin/sh\necho \xc3\xa9\n");
    jobspec_destroy (js);
    js = parse (SCRIPT (
        FILE_OBJECT ("\"encoding\":\"base64\",\"data\":\"IyEvYmluL3NoCmVjaG8g/wo=\"")));
    assert_string_equal (js->script, "#!/bin/sh\necho \xff\n");
    jobspec_destroy (js);
}

static void test_encode (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (sizes_cases); i++) {
        struct jobspec *js = parse (sizes_cases[i].text);
        char *text = jobspec_encode (js);
        struct jobspec *again = parse (text);
        char *same = jobspec_encode (again);

        assert_string_equal (text, same);
        assert_true (json_equal (js->root, again->root));
        free (text);
        free (same);
        jobspec_destroy (js);
        jobspec_destroy (again);
    }
    /* the order of keys does not matter, unknown attributes stay */
    struct jobspec *js =
        parse ("{\"tasks\":" ONE
               ",\"version\":1,\"attributes\":{\"user\":{\"b\":2,\"a\":[]},\"system\":{"
               "\"new\":1}},\"resources\":[" SLOT ("1", CORE ("1")) "]}");
    char *text = jobspec_encode (js);

    assert_int_equal (
        strncmp (text,
                 "{\"attributes\":{\"system\":{\"new\":1},\"user\":{\"a\":[],\"b\""
                 ":2}},\"resources\":",
                 60),
        0);
    free (text);
    jobspec_destroy (js);
}

/* -- refusals: the error names the place and the fault -- */

static const struct {
    const char *text, *place, *thing;
} bad[] = {
    { "", "jobspec", "line 1" },
    { "{\"version\":1,", "jobspec", "line 1" },
    { "{\"version\":1,\"version\":1}", "jobspec", "duplicate" },
    { "[]", "jobspec: ", "expected an object" },
    { "{}", "jobspec: ", "'version' is missing" },
    { "{\"version\":2,\"resources\":[],\"tasks\":[],\"attributes\":{}}",
      "jobspec: version", "1" },
    { "{\"version\":1,\"resources\":[],\"tasks\":[],\"attributes\":{}}",
      "resources: ", "at least one" },
    { "{\"version\":1,\"resources\":{},\"tasks\":[],\"attributes\":{}}",
      "resources: ", "a list" },
    { "{\"version\":1,\"resources\":[],\"tasks\":[],\"attributes\":{},\"x\":1}",
      "jobspec: x", "unknown key" },
    { "{\"version\":1,\"tasks\":[],\"attributes\":{}}",
      "jobspec: ", "'resources' is missing" },
    /* counts */
    { DOC (NODE ("0", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "0 is not" },
    { DOC (NODE ("-3", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "-3 is not" },
    { DOC (NODE ("{\"min\":-3}", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count.min: ", "-3 is not a positive integer" },
    { DOC (NODE ("1.5", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "integer" },
    { DOC (NODE ("2147483648", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "2147483648 is more" },
    { DOC (NODE ("9223372036854775808", SLOT ("1", CORE ("1"))), ONE, ""), "jobspec",
      "big" },
    { DOC (NODE ("1", SLOT ("1", CORE ("{\"min\":5,\"max\":4}"))), ONE, ""),
      "resources[0].with[0].with[0].count: ", "max 4 is less than min 5" },
    { DOC (NODE ("{\"max\":4}", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "'min'" },
    { DOC (NODE ("{\"min\":4,\"mix\":4}", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count.mix: ", "unknown key" },
    { DOC (NODE ("{\"min\":1,\"max\":4,\"operator\":\"-\",\"operand\":1}",
                 SLOT ("1", CORE ("1"))),
           ONE, ""),
      "resources[0].count.operator: ", "'-'" },
    { DOC (NODE ("{\"min\":1,\"max\":4,\"operator\":\"+\",\"operand\":0}",
                 SLOT ("1", CORE ("1"))),
           ONE, ""),
      "resources[0].count.operand: ", "0 is not" },
    { DOC (NODE ("{\"min\":1,\"max\":4,\"operator\":\"*\",\"operand\":1}",
                 SLOT ("1", CORE ("1"))),
           ONE, ""),
      "resources[0].count: ", "2 or more" },
    { DOC (NODE ("{\"min\":1,\"max\":4,\"operator\":\"^\",\"operand\":2}",
                 SLOT ("1", CORE ("1"))),
           ONE, ""),
      "resources[0].count: ", "min must be 2" },
    { DOC (NODE ("{\"min\":1,\"max\":4,\"operator\":\"+\"}", SLOT ("1", CORE ("1"))), ONE,
           ""),
      "resources[0].count: ", "together" },
    { DOC (NODE ("\"4,16,9\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "list of rising numbers" },
    { DOC (NODE ("\"0,4\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "has 0 in it" },
    /* steps that do not reach max */
    { DOC (NODE ("{\"min\":4,\"max\":15,\"operator\":\"+\",\"operand\":4}",
                 SLOT ("1", CORE ("1"))),
           ONE, ""),
      "resources[0].count: ", "the last size is 12; use 4-12:4" },
    { DOC (NODE ("\"2-17:3:*\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "the last size is 6; use 2-6:3:*" },
    { DOC (NODE ("\"2-255:2:^\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "the last size is 16; use 2-16:2:^" },
    { DOC (NODE ("\"4-7:2:*\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "4 is the only size" },
    { DOC (NODE ("\"4-\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "number" },
    { DOC (NODE ("\"[4-5\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "range" },
    { DOC (NODE ("\"1-9:2:x\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "'x'" },
    { DOC (NODE ("\"1-9:2:\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "''" },
    { DOC (NODE ("\"04\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "'04'" },
    { DOC (NODE ("\"99999999999999999999\"", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].count: ", "more than" },
    /* vertices */
    { DOC ("3", ONE, ""), "resources[0]: ", "object" },
    { DOC ("{\"type\":\"node\"}", ONE, ""), "resources[0]: ", "'count' is missing" },
    { DOC ("{\"count\":1}", ONE, ""), "resources[0]: ", "'type' is missing" },
    { DOC ("{\"type\":\"no de\",\"count\":1}", ONE, ""),
      "resources[0].type: ", "'no de'" },
    { DOC ("{\"type\":\"\",\"count\":1}", ONE, ""), "resources[0].type: ", "''" },
    { DOC ("{\"type\":7,\"count\":1}", ONE, ""), "resources[0].type: ", "a string" },
    { DOC ("{\"type\":\"node\",\"count\":1,\"colour\":1}", ONE, ""),
      "resources[0].colour: ", "unknown key" },
    { DOC ("{\"type\":\"node\",\"count\":1,\"id\":\"n1\"}", ONE, ""),
      "resources[0].id: ", "not supported" },
    { DOC ("{\"type\":\"node\",\"count\":1,\"exclusive\":1}", ONE, ""),
      "resources[0].exclusive: ", "true or false" },
    { DOC ("{\"type\":\"node\",\"count\":1,\"with\":[]}", ONE, ""),
      "resources[0].with: ", "at least one" },
    { DOC ("{\"type\":\"slot\",\"count\":1,\"label\":\"t\"}", ONE, ""),
      "resources[0]: ", "'with'" },
    { DOC ("{\"type\":\"slot\",\"count\":1,\"with\":[" CORE ("1") "]}", ONE, ""),
      "resources[0]: ", "'label'" },
    { DOC (SLOT ("1", SLOT ("1", CORE ("1"))), ONE, ""),
      "resources[0].with[0]: ", "slot inside a slot" },
    { DOC (SLOT ("1", CORE ("1")) "," SLOT ("1", CORE ("1")), ONE, ""),
      "resources: ", "label 't'" },
    { DOC (SLOT ("1", "{\"type\":\"memory\",\"count\":1,\"unit\":\"miles\"}"), ONE, ""),
      "resources[0].with[0].unit: ", "'miles'" },
    { DOC (SLOT ("1", "{\"type\":\"memory\",\"count\":2147483647,\"unit\":\"PiB\"}"), ONE,
           ""),
      "resources[0].with[0].count: ", "2^40" },
    /* tasks */
    { DOC (SLOT ("1", CORE ("1")), "{}", ""), "tasks: ", "a list" },
    { DOC (SLOT ("1", CORE ("1")), "[]", ""), "tasks: ", "exactly one" },
    { DOC (SLOT ("1", CORE ("1")), "[1]", ""), "tasks[0]: ", "object" },
    { DOC (SLOT ("1", CORE ("1")), TASK ("u", "\"per_slot\":1"), ""),
      "tasks[0].slot: ", "'u'" },
    { DOC (SLOT ("1", CORE ("1")), TASK ("t", "\"per_slot\":0"), ""),
      "tasks[0].count.per_slot: ", "0 is not" },
    { DOC (SLOT ("1", CORE ("1")), TASK ("t", "\"total\":\"x\""), ""),
      "tasks[0].count.total: ", "integer" },
    { DOC (SLOT ("1", CORE ("1")), TASK ("t", "\"total\":1,\"per_slot\":1"), ""),
      "tasks[0].count: ", "exactly one" },
    { DOC (SLOT ("1", CORE ("1")),
           TASK ("t", "\"per_resource\":{\"type\":\"core\",\"count\":1}"), ""),
      "tasks[0].count: ", "per_resource" },
    { DOC (SLOT ("1", CORE ("1")),
           "[{\"command\":[],\"slot\":\"t\",\"count\":{\"total\":1}}]", ""),
      "tasks[0].command: ", "at least one" },
    { DOC (SLOT ("1", CORE ("1")),
           "[{\"command\":[\"\"],\"slot\":\"t\",\"count\":{\"total\":1}}]", ""),
      "tasks[0].command: ", "empty" },
    { DOC (SLOT ("1", CORE ("1")),
           "[{\"command\":[\"a\",7],\"slot\":\"t\",\"count\":{\"total\":1}}]", ""),
      "tasks[0].command[1]: ", "a string" },
    { DOC (SLOT ("1", CORE ("1")),
           "[{\"command\":[\"a\"],\"slot\":\"t\",\"count\":{\"total\":1},"
           "\"distribution\":\"x\"}]",
           ""),
      "tasks[0].distribution: ", "not supported" },
    { DOC (SLOT ("1", CORE ("1")), "[{\"command\":[\"a\"],\"slot\":\"t\",\"x\":1}]", ""),
      "tasks[0].x: ", "unknown key" },
    /* attributes */
    { "{\"version\":1,\"resources\":[" SLOT (
          "1", CORE ("1")) "],\"tasks\":" ONE ",\"attributes\":{\"sytem\":{}}}",
      "attributes", "sytem" },
#define STAGE(list) SIMPLE ("\"shell\":{\"options\":{\"stage-in\":" list "}}")
    { STAGE ("{}"), "options.stage-in", "an array" },
    { STAGE ("[\"a\"]"), "options.stage-in[0]", "an object" },
    { STAGE ("[{\"to\":\"a\"}]"), "options.stage-in[0]", "from" },
    { STAGE ("[{\"from\":3}]"), "options.stage-in[0].from", "a string" },
    { STAGE ("[{\"from\":\"a\"},{\"from\":\"b\",\"to\":\"a\"}]"), "stage-in[1]", "both" },
    { STAGE ("[{\"from\":\"a\",\"mode\":7}]"), "options.stage-in[0]", "mode" },
    { STAGE ("[{\"from\":\"a\\nb\"}]"), "options.stage-in[0]", "name of a file" },
    { STAGE ("[{\"from\":\"\"}]"), "options.stage-in[0]", "name of a file" },
    { STAGE ("[{\"from\":\"a\",\"to\":\"%t\"}]"), "options.stage-in[0]", "%t" },
    { STAGE ("[{\"from\":\"a/\"}]"), "options.stage-in[0]", "directory" },
    { SIMPLE ("\"shell\":{\"options\":{\"stage-out\":[{\"from\":\"%q\"}]}}"),
      "options.stage-out[0]", "%q" },
    { SIMPLE ("\"duration\":-1"), "attributes.system.duration", "-1" },
    { SIMPLE ("\"duration\":\"1h\""), "attributes.system.duration", "a number" },
    { SIMPLE ("\"begin-time\":-1"), "attributes.system.begin-time", "-1" },
    { SIMPLE ("\"begin-time\":\"now\""), "attributes.system.begin-time", "a number" },
    { SIMPLE ("\"dependencies\":\"afterok:1\""), "attributes.system.dependencies",
      "array" },
    { SIMPLE ("\"dependencies\":[{\"scheme\":\"after\",\"value\":\"x\"}]"),
      "attributes.system.dependencies[0].value", "'x'" },
    { SIMPLE ("\"fluxq\":{\"deadline\":1e11}"), "attributes.system.fluxq.deadline", "" },
    { SIMPLE ("\"fluxq\":{\"kill-invalid-depend\":0}"),
      "attributes.system.fluxq.kill-invalid-depend", "" },
    { SIMPLE ("\"fluxq\":{\"reservation\":7}"), "attributes.system.fluxq.reservation",
      "expected a string, got an integer" },
    { SIMPLE ("\"fluxq\":{\"requeue\":\"yes\"}"), "attributes.system.fluxq.requeue", "" },
    { SIMPLE ("\"queue\":\"a b\""), "attributes.system.queue", "'a b'" },
    { SIMPLE ("\"cwd\":\"home\""), "attributes.system.cwd", "'home'" },
    { SIMPLE ("\"job\":{\"name\":\"a\\nb\"}"), "attributes.system.job.name", "control" },
    { SIMPLE ("\"job\":{\"name\":\"\"}"), "attributes.system.job.name", "1 to 255" },
    { SIMPLE ("\"environment\":[]"), "attributes.system.environment", "object" },
    { SIMPLE ("\"environment\":{\"A=B\":\"x\"}"), "attributes.system.environment",
      "'A=B'" },
    { SIMPLE ("\"environment\":{\"A\":1}"), "attributes.system.environment.A",
      "a string" },
    { SIMPLE ("\"shell\":{\"options\":{\"output\":{\"stdout\":{\"path\":\"%q\"}}}}"),
      "attributes.system.shell.options.output.stdout.path", "%q" },
    { SIMPLE ("\"shell\":{\"options\":{\"input\":{\"stdin\":{\"path\":\"a\\nb\"}}}}"),
      "attributes.system.shell.options.input.stdin.path", "control" },
    { SIMPLE ("\"shell\":{\"options\":{\"output\":{\"mode\":\"new\"}}}"),
      "attributes.system.shell.options.output.mode", "'new'" },
    { SIMPLE ("\"constraints\":[]"), "attributes.system.constraints", "object" },
    { SIMPLE ("\"fluxq\":{\"memory-per-node\":0}"),
      "attributes.system.fluxq.memory-per-node", "0" },
    { SIMPLE ("\"fluxq\":{\"image\":\"\"}"), "attributes.system.fluxq.image", "1 to" },
    { SIMPLE ("\"files\":{\"data.csv\":{}}"), "attributes.system.files", "data.csv" },
    { SCRIPT (""), "tasks[0].command[0]: ", "files.script is missing" },
    { SIMPLE (FILE_OBJECT ("\"encoding\":\"utf-8\",\"data\":\"#!/bin/sh\\n\"")),
      "tasks[0].command[0]: ", "{{tmpdir}}/script" },
    { SCRIPT (FILE_OBJECT ("\"encoding\":\"utf-8\",\"data\":\"echo\\n\"")),
      "attributes.system.files.script", "#!" },
    { SCRIPT (FILE_OBJECT ("\"encoding\":\"utf-8\",\"data\":\"#!/bin/sh\\r\\n\"")),
      "attributes.system.files.script", "DOS" },
    { SCRIPT (FILE_OBJECT ("\"encoding\":\"blobvec\",\"data\":[]")),
      "attributes.system.files.script.encoding", "'blobvec'" },
    { SCRIPT (FILE_OBJECT ("\"encoding\":\"base64\",\"data\":\"IyE\"")),
      "attributes.system.files.script.data", "base64" },
    { SCRIPT (FILE_OBJECT ("\"encoding\":\"base64\",\"data\":\"IyEA\"")),
      "attributes.system.files.script", "NUL" },
    { SCRIPT (
          FILE_OBJECT ("\"size\":3,\"encoding\":\"utf-8\",\"data\":\"#!/bin/sh\\n\"")),
      "attributes.system.files.script.size", "3" },
    { SCRIPT ("\"files\":{\"script\":{\"mode\":16877,\"encoding\":\"utf-8\",\"data\":\"#!"
              "\"}}"),
      "attributes.system.files.script.mode", "regular" },
};

static void test_errors (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        struct jobspec *js = jobspec_parse (bad[i].text, strlen (bad[i].text), &err);

        if (js)
            fail_msg ("accepted: %s", bad[i].text);
        if (!strstr (err.text, bad[i].place) || !strstr (err.text, bad[i].thing)
            || strncmp (err.text, "jobspec", 7) != 0)
            fail_msg ("%s: '%s' does not name both '%s' and '%s'", bad[i].text, err.text,
                      bad[i].place, bad[i].thing);
        assert_true (err.code > 0);
    }
}

/* -- limits -- */

/* n times open, then middle, then n times close */
static char *nested (size_t n, const char *open, const char *middle, const char *close)
{
    struct strbuf sb;

    strbuf_init (&sb, JOBSPEC_TEXT_MAX);
    strbuf_adds (&sb,
                 "{\"version\":1,\"tasks\":" ONE ",\"attributes\":{},\"resources\":[");
    for (size_t i = 0; i < n; i++)
        strbuf_adds (&sb, open);
    strbuf_adds (&sb, middle);
    for (size_t i = 0; i < n; i++)
        strbuf_adds (&sb, close);
    strbuf_adds (&sb, "]}");
    return strbuf_detach (&sb);
}

static void refuse (char *text, const char *thing)
{
    struct error err = { 0 };

    assert_non_null (text);
    assert_null (jobspec_parse (text, strlen (text), &err));
    if (!strstr (err.text, thing))
        fail_msg ("'%s' does not contain '%s'", err.text, thing);
    free (text);
}

static void test_limits (void **state)
{
    static const char rack[] = "{\"type\":\"rack\",\"count\":1,\"with\":[";
    static const char bytes[] = "x";
    struct error err;
    struct jobspec *js;
    char *text;

    (void)state;
    /* 62 racks, the slot and the core are 64 levels */
    text = nested (62, rack, SLOT ("1", CORE ("1")), "]}");
    js = parse (text);
    jobspec_destroy (js);
    free (text);
    refuse (nested (63, rack, SLOT ("1", CORE ("1")), "]}"), "64 levels");
    refuse (nested (500, rack, SLOT ("1", CORE ("1")), "]}"), "levels");
    refuse (nested (5000, rack, SLOT ("1", CORE ("1")), "]}"), "jobspec");
    refuse (nested (999, CORE ("1") ",", SLOT ("1", CORE ("1")), ""), "1000 resources");
    text = nested (998, CORE ("1") ",", SLOT ("1", CORE ("1")), "");
    js = parse (text);
    jobspec_destroy (js);
    free (text);
    /* not even read */
    assert_null (jobspec_parse (bytes, (size_t)JOBSPEC_TEXT_MAX + 1, &err));
    assert_int_equal (err.code, EFBIG);
}

static void test_long_strings (void **state)
{
    autojson json_t *root = json_loads (SIMPLE ("\"environment\":{\"A\":\"\"}"), 0, NULL);
    json_t *task = json_array_get (json_object_get (root, "tasks"), 0);
    json_t *env = json_object_get (
        json_object_get (json_object_get (root, "attributes"), "system"), "environment");
    autofree char *big = malloc (JOBSPEC_STRING_MAX + 1);
    struct error err = { 0 };
    struct jobspec *js;

    (void)state;
    memset (big, 'x', JOBSPEC_STRING_MAX);
    big[JOBSPEC_STRING_MAX - 3] = '\0';
    json_object_set_new (env, "A", json_string (big));
    js = jobspec_from_json (root, &err); /* "A=" and the NUL just fit */
    assert_non_null (js);
    jobspec_destroy (js);
    big[JOBSPEC_STRING_MAX - 3] = 'x';
    big[JOBSPEC_STRING_MAX - 2] = '\0';
    json_object_set_new (env, "A", json_string (big));
    assert_null (jobspec_from_json (root, &err));
    assert_non_null (strstr (err.text, "environment.A"));
    json_object_clear (env);
    json_object_set_new (env, "N", json_stringn ("a\0b", 3));
    assert_null (jobspec_from_json (root, &err));
    assert_non_null (strstr (err.text, "environment.N: has a NUL"));
    json_object_clear (env);
    json_array_append_new (json_object_get (task, "command"), json_stringn ("a\0b", 3));
    assert_null (jobspec_from_json (root, &err));
    assert_non_null (strstr (err.text, "tasks[0].command[1]: has a NUL"));
}

static const char *other_name (const char *type, void *arg)
{
    assert_ptr_equal (arg, other_name);
    return !strcmp (type, "hca") ? "rdma/hca" : !strcmp (type, "gpu:a100") ? "gpu" : NULL;
}

/* In any place, in the kept text and in the parsed values. */
static void test_rename (void **state)
{
    struct jobspec *js = parse (DOC (
        NODE (
            "2",
            SLOT ("2",
                  CORE ("1") ",{\"type\":\"gpu:a100\",\"count\":3}") ",{\"type\":\"hca\","
                                                                     "\"count\":1}"),
        ONE, ""));
    struct jobspec_sizes s;

    (void)state;
    jobspec_get_sizes (js, &s);
    assert_int_equal (s.min_gpus, 0);
    assert_int_equal (jobspec_rename (js, other_name, other_name), 1);
    assert_string_equal (js->resources[0].with[1].type, "rdma/hca");
    jobspec_get_sizes (js, &s);
    assert_int_equal (s.min_gpus, 12);
    char *text = jobspec_encode (js);
    struct jobspec *again = parse (text);
    assert_string_equal (again->resources[0].with[1].type, "rdma/hca");
    assert_string_equal (again->resources[0].with[0].with[1].type, "gpu");
    assert_int_equal (jobspec_rename (js, other_name, other_name), 0);
    free (text);
    jobspec_destroy (again);
    jobspec_destroy (js);
}

/* -- heterogeneous jobs -- */

#define COMPONENT(nodes, slots, cores, more)                                             \
    "{\"version\":1,\"resources\":[" NODE (                                              \
        nodes, SLOT (slots, CORE (cores))) "],\"tasks\":" ONE                            \
                                           ",\"attributes\":{\"system\":{" more "}}}"
#define COMPONENTS(list) "\"fluxq\":{\"components\":[" list "]}"

static void test_components (void **state)
{
    struct jobspec *js = parse (SIMPLE (COMPONENTS (COMPONENT (
        "2", "3", "4", "") "," COMPONENT ("1", "1", "8", "\"job\":{\"name\":\"big\"}"))));
    struct jobspec_sizes first, all;

    (void)state;
    assert_int_equal (js->ncomponents, 2);
    assert_ptr_equal (jobspec_component (js, 0), js);
    assert_string_equal (jobspec_component (js, 2)->name, "big");
    jobspec_get_component_sizes (js, &first);
    jobspec_get_sizes (js, &all);
    assert_int_equal (all.min_nodes, first.min_nodes + 3);
    assert_int_equal (all.max_cores, first.max_cores + 2 * 3 * 4 + 8);
    assert_int_equal (all.min_slots, first.min_slots + 7);
    assert_int_equal (jobspec_tasks (js), jobspec_task_total (js, first.min_slots) + 7);
    jobspec_destroy (js);
}

static void test_no_components (void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        { SIMPLE ("\"fluxq\":{\"components\":[]}"), "a list of 1 to 63 jobspecs" },
        { SIMPLE ("\"fluxq\":{\"components\":{}}"), "a list of 1 to 63 jobspecs" },
        { SIMPLE (COMPONENTS ("7")), "components[0]: jobspec: expected an object" },
        { SIMPLE (COMPONENTS (COMPONENT ("0", "1", "1", ""))),
          "components[0]: jobspec: " },
        { SIMPLE (COMPONENTS (COMPONENT ("{\"min\":1,\"max\":2,\"operator\":\"+\","
                                         "\"operand\":1}",
                                         "1", "1", ""))),
          "fixed numbers" },
        { SIMPLE (COMPONENTS (COMPONENT ("1", "1", "1", "\"queue\":\"debug\""))),
          "components[0]: a component has no array, dependencies, queue" },
        { SIMPLE (COMPONENTS (
              COMPONENT ("1", "1", "1", COMPONENTS (COMPONENT ("1", "1", "1", ""))))),
          "has no components itself" },
        { SIMPLE ("\"fluxq\":{\"array\":\"1-3\",\"components\":[" COMPONENT (
              "1", "1", "1", "") "]}"),
          "an array has no components" },
        { SIMPLE ("\"fluxq\":{\"memory-per-node\":7,\"components\":[" COMPONENT (
              "1", "1", "1", "") "]}"),
          "the first component has memory on each node only with a number of nodes" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        assert_null (jobspec_parse (cases[i].text, strlen (cases[i].text), &err));
        if (!strstr (err.text, cases[i].word))
            fail_msg ("%s: %s", cases[i].text, err.text);
    }
}

/* -- malleable jobs -- */

#define MALLEABLE(nodes, with, count, more)                                              \
    DOC (NODE (nodes, SLOT (with, CORE ("1"))),                                          \
         "[{\"command\":[\"{{tmpdir}}/script\"],\"slot\":\"t\",\"count\":{" count "}}]", \
         FILE_OBJECT ("\"encoding\":\"utf-8\",\"data\":\"#!/bin/sh\\n\"") more           \
         ",\"fluxq\":{\"malleable\":true}")
#define RANGE "{\"min\":2,\"max\":8,\"operator\":\"+\",\"operand\":2}"

static void test_malleable (void **state)
{
    struct jobspec *js = parse (MALLEABLE (RANGE, "2", "\"per_slot\":1", ""));
    const struct jobspec_resource *nodes = jobspec_malleable (js);
    struct error err = { 0 };

    (void)state;
    assert_non_null (nodes);
    assert_int_equal (js->resize_signal, 28); /* SIGWINCH */
    assert_int_equal (jobspec_malleable_size (nodes, 4, &err), 0);
    assert_int_equal (jobspec_malleable_size (nodes, 8, &err), 0);
    assert_int_equal (jobspec_malleable_size (nodes, 3, &err), -EINVAL);
    assert_int_equal (jobspec_malleable_size (nodes, 10, &err), -EINVAL);
    assert_non_null (strstr (err.text, "2-8:2"));
    jobspec_destroy (js);
}

static void test_not_malleable (void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        { MALLEABLE ("4", "1", "\"per_slot\":1", ""), "-N MIN-MAX" },
        { MALLEABLE (RANGE, RANGE, "\"per_slot\":1", ""), "--ntasks-per-node" },
        { MALLEABLE (RANGE, "1", "\"total\":8", ""), "--ntasks-per-node" },
        { DOC (NODE (RANGE, SLOT ("1", CORE ("1"))), ONE,
               "\"fluxq\":{\"malleable\":true}"),
          "script" },
        { SIMPLE ("\"fluxq\":{\"malleable\":true}"), "-N MIN-MAX" },
        { SIMPLE ("\"fluxq\":{\"resize-signal\":10}"), "not malleable" },
        { SIMPLE ("\"fluxq\":{\"malleable\":1}"), "malleable" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        assert_null (jobspec_parse (cases[i].text, strlen (cases[i].text), &err));
        if (!strstr (err.text, cases[i].word))
            fail_msg ("%s: %s", cases[i].text, err.text);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_components),   cmocka_unit_test (test_no_components),
        cmocka_unit_test (test_malleable),    cmocka_unit_test (test_not_malleable),
        cmocka_unit_test (test_sizes),        cmocka_unit_test (test_count_fit),
        cmocka_unit_test (test_task_total),   cmocka_unit_test (test_memory_units),
        cmocka_unit_test (test_attributes),   cmocka_unit_test (test_absent_attributes),
        cmocka_unit_test (test_script_file),  cmocka_unit_test (test_encode),
        cmocka_unit_test (test_errors),       cmocka_unit_test (test_limits),
        cmocka_unit_test (test_long_strings), cmocka_unit_test (test_rename),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
