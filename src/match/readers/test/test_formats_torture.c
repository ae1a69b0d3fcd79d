/* test_formats_torture.c - each allocation of a reader or writer fails in turn: it
 * reports missing memory, nothing leaks (ASan), and a text that is still returned is
 * complete.
 *
 * Linked with --wrap for malloc and related functions. Allocations of jansson, libxml2
 * and libhwloc do not fail here.
 */
#include "match/test/formats.h"

#include <errno.h>
#include <string.h>

#include "common/test/torture.h"
#include "match/readers/reader.h"

#define TRIES_MAX 100000

static void fail_at (long n)
{
    torture_countdown = n;
    torture_has_failed = false;
}

/* The result of one call in which an allocation may have failed. */
static void check_result (const char *what, long n, int rc)
{
    torture_countdown = -1;
    if (rc != -ENOMEM && (rc != 0 || torture_has_failed))
        fail_msg ("%s: %d when allocation %ld fails", what, rc, n);
    assert_true (n < TRIES_MAX);
}

/* ' stands for ". */
static const struct {
    const char *format, *text;
} cases[] = {
    { "rv1exec_force",
      "{'version':1,'execution':{'R_lite':[{'rank':'7','children':{'gpu':'1','core':"
      "'0,2-3,5,7,9,11,13,15,17,19'}},{'rank':'2-5','children':{'core':'0','gpu':'0'}}],"
      "'nodelist':['foo[1,3-5]','foo07'],'properties':{'fast':'2,7-9','a=b':'2-7'}}}" },
    { "rv1exec",
      "{'version':1,'execution':{'R_lite':[{'rank':'0','children':{'core':'0'}}],"
      "'nodelist':['node4']},'scheduling':{'graph':{'nodes':[{'id':'0','metadata':"
      "{'type':'cluster','paths':{'containment':'/cluster0'}}},{'id':'1','metadata':"
      "{'type':'node','id':4,'rank':0,'paths':{'containment':'/cluster0/node4'}}},"
      "{'id':'2','metadata':{'type':'core','id':0,'rank':0,'paths':{'containment':"
      "'/cluster0/node4/core0'}}}],'edges':[{'source':'0','target':'1'},"
      "{'source':'1','target':'2'}]}}}" },
    { "hwloc",
      "<topology version='2.0'><object type='Machine' os_index='0' cpuset='0x3' "
      "complete_cpuset='0x3' nodeset='0x1' complete_nodeset='0x1'><info name='HostName' "
      "value='a1'/><object type='NUMANode' os_index='0' cpuset='0x3' complete_cpuset="
      "'0x3' nodeset='0x1' complete_nodeset='0x1'/><object type='Core' os_index='0' "
      "cpuset='0x3' complete_cpuset='0x3' nodeset='0x1' complete_nodeset='0x1'>"
      "<object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' "
      "complete_nodeset='0x1'/><object type='PU' os_index='1' cpuset='0x2' "
      "complete_cpuset='0x2' nodeset='0x1' complete_nodeset='0x1'/></object>"
      "<object type='PCIDev' pci_busid='0000:01:00.0' pci_type='0302 [10de:1db1] "
      "[10de:1212] a1'><object type='OSDev' name='cuda3' osdev_type='5'/></object>"
      "</object></topology>" },
};

static int read_text (const struct match_reader *r, const char *text, struct graph **ret)
{
    *ret = graph_create ();
    return *ret ? r->read (*ret, text, strlen (text), NULL, NULL) : -ENOMEM;
}

static void torture_reader (const struct match_reader *r, const char *text)
{
    struct graph *g;

    for (long n = 0; n == 0 || torture_has_failed; n++) {
        fail_at (n);
        int rc = read_text (r, text, &g);
        check_result (r->name, n, rc);
        graph_destroy (g);
    }
}

static void torture_selection (const struct match_reader *r, const char *text,
                               const struct graph *g)
{
    for (long n = 0; r->read_selection && (n == 0 || torture_has_failed); n++) {
        struct selection *s = NULL;
        fail_at (n);
        int rc = r->read_selection (g, text, strlen (text), &s, NULL);
        check_result (r->name, n, rc);
        assert_int_equal (rc == 0, s != NULL);
        selection_destroy (s);
    }
}

static void torture_writer (const struct match_writer *w, const struct graph *g,
                            const struct selection *s)
{
    struct match_writer_options opt = { 0 };
    struct strbuf whole, sb;

    strbuf_init (&whole, 1 << 20);
    assert_int_equal (w->write (g, s, &opt, &whole), 0);
    for (long n = 0; n == 0 || torture_has_failed; n++) {
        strbuf_init (&sb, 1 << 20);
        fail_at (n);
        int rc = w->write (g, s, &opt, &sb);
        check_result (w->name, n, rc);
        if (rc == 0)
            assert_string_equal (sb.buf, whole.buf);
        strbuf_release (&sb);
    }
    strbuf_release (&whole);
}

static void test_all (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        const struct match_reader *r = match_reader_find (cases[i].format);
        struct selection *s = selection_create ();
        struct graph *g;
        struct strbuf text;
        strbuf_init (&text, 1 << 16);
        add_quoted (&text, cases[i].text);
        torture_reader (r, text.buf);
        assert_int_equal (read_text (r, text.buf, &g), 0);
        torture_selection (r, text.buf, g);
        pick_all (g, s, g->root, GRAPH_NONE);
        for (size_t k = 0; match_writers[k]; k++)
            torture_writer (match_writers[k], g, s);
        selection_destroy (s);
        graph_destroy (g);
        strbuf_release (&text);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_all) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
