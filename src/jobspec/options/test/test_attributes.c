/* test_attributes.c - the table of attributes: an incomplete row, or a value
 * that is lost between option, jobspec, event, answer and environment, would
 * mislead the user silently. */
#include "jobspec/options/test/submit_line.h"

#include "jobspec/options/attributes.h"

static bool is_in_jobspec (const struct attribute *a)
{
    return a->type != ATTRIBUTE_OWN && a->at < sizeof (struct jobspec);
}

static const void *field_of (const struct attribute *a, const struct jobspec *js)
{
    return (const char *)js + a->at;
}

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition))                                                                \
            fail_msg ("--%s: not %s", a->name, #condition);                              \
    } while (0)

/* Fails if a row sets nothing, sets a value of another row, or is shown nowhere. */
static void test_rows (void **state)
{
    (void)state;
    for (const struct attribute *a = attribute_table; a->name; a++) {
        bool scalar = a->type != ATTRIBUTE_OWN;

        CHECK (a->help && *a->help);
        CHECK (!a->same_as || attribute_find (a->same_as, strlen (a->same_as)));
        CHECK (scalar || a->set || a->same_as);
        CHECK (!scalar || !a->set || a->type == ATTRIBUTE_NUMBER);
        CHECK (!scalar || !a->same_as);
        CHECK (a->type == ATTRIBUTE_FLAG ? !a->arg : !scalar || a->arg);
        CHECK (!is_in_jobspec (a) || a->path);
        CHECK (a->type != ATTRIBUTE_TEXT || is_in_jobspec (a) == (a->max > 0));
        CHECK (a->type == ATTRIBUTE_OWN || a->type == ATTRIBUTE_FLAG
               || a->type == ATTRIBUTE_TEXT || a->max > a->min);
        CHECK (!a->check || a->type == ATTRIBUTE_TEXT);
        CHECK (!(a->label || a->heading || a->variable)
               || (is_in_jobspec (a) && a->type == ATTRIBUTE_TEXT));
        CHECK (!a->event || is_in_jobspec (a));
        CHECK (!a->heading || a->event);
        CHECK (!a->column_letter || a->heading);
        for (const struct attribute *b = a + 1; b->name; b++)
            if (scalar && b->type != ATTRIBUTE_OWN && a->at == b->at)
                fail_msg ("--%s and --%s have one value", a->name, b->name);
    }
}

/* Sets a value different from that of a jobspec without the attribute. */
static void set_sample (struct submit_options *so, const struct attribute *a)
{
    static const char *const texts[] = { [ATTRIBUTE_TEXT] = "abc", [ATTRIBUTE_NUMBER] = "7",
                                         [ATTRIBUTE_FLAG] = NULL, [ATTRIBUTE_SPAN] = "2",
                                         [ATTRIBUTE_TIME] = "2030-01-02" };
    struct error err = { 0 };
    const char *text = strcmp (a->name, "mail-type") ? texts[a->type] : "END";

    if (submit_options_set (so, SUBMIT_FROM_COMMAND, a->name, text, NULL, &err) < 0)
        fail_msg ("%s", err.text);
}

static bool is_same (const struct attribute *a, const struct jobspec *x,
                     const struct jobspec *y)
{
    switch (a->type) {
    case ATTRIBUTE_TEXT:
        return attribute_text (a, y) && !strcmp (attribute_text (a, x), attribute_text (a, y));
    case ATTRIBUTE_NUMBER:
        return *(const int64_t *)field_of (a, x) == *(const int64_t *)field_of (a, y);
    case ATTRIBUTE_FLAG:
        return *(const bool *)field_of (a, x) == *(const bool *)field_of (a, y);
    case ATTRIBUTE_SPAN:
    case ATTRIBUTE_TIME:
        return *(const double *)field_of (a, x) == *(const double *)field_of (a, y);
    case ATTRIBUTE_OWN:
        break;
    }
    return false;
}

/* Fails if the broker does not read the value that the command writes, or if the event,
 * the answer or the environment lacks the row's value. */
static void test_every_scalar_arrives (void **state)
{
    (void)state;
    for (const struct attribute *a = attribute_table; a->name; a++) {
        struct submit_options so;
        struct jobspec js = { 0 }, none = { 0 };
        struct error err = { 0 };

        if (!is_in_jobspec (a))
            continue;
        json_t *system = json_object (), *event = json_object (), *answer = json_object ();
        submit_options_init (&so);
        set_sample (&so, a);
        CHECK (a->type == ATTRIBUTE_TEXT || !is_same (a, &so.js, &none));
        CHECK (attributes_to_json (system, &so.js) == 0 && json_object_size (system) == 1);
        if (attributes_from_json (&js, system, &err) < 0)
            fail_msg ("%s", err.text);
        CHECK (is_same (a, &so.js, &js));
        CHECK (attributes_to_event (event, &js) == 0);
        CHECK (!a->event == (json_object_size (event) == 0));
        CHECK (!a->event || json_object_get (event, a->event));
        json_t *shown;
        assert_int_equal (attributes_of_event (event, &shown), 0);
        CHECK (!a->heading == !shown);
        attributes_show (answer, &js);
        CHECK ((a->label && !a->heading) == json_is_string (json_object_get (answer, a->name)));
        assert_int_equal (attributes_to_environment (&js), 0);
        CHECK (json_object_size (js.environment) == (a->variable ? 2 : 0));
        CHECK (!a->variable || json_object_get (js.environment, a->variable));
        json_decref (shown);
        json_decref (answer);
        json_decref (event);
        json_decref (system);
        json_decref (js.environment);
        attributes_release (&js);
        submit_options_release (&so);
    }
}

/* Fails if a number, a time or a text out of range is accepted, from the
 * option or the jobspec. */
static void test_ranges (void **state)
{
    char text[8192];
    struct error err = { 0 };

    (void)state;
    memset (text, 'a', sizeof (text));
    for (const struct attribute *a = attribute_table; a->name; a++) {
        struct submit_options so;
        struct jobspec js = { 0 };
        json_t *system;

        if (!is_in_jobspec (a) || a->type == ATTRIBUTE_FLAG)
            continue;
        submit_options_init (&so);
        text[(size_t)MIN (a->max, 8000.) + 1] = '\0';
        if (a->type == ATTRIBUTE_TEXT)
            CHECK (submit_options_set (&so, SUBMIT_FROM_COMMAND, a->name, text, NULL, &err) < 0);
        CHECK (submit_options_set (&so, SUBMIT_FROM_COMMAND, a->name, "", NULL, &err) < 0);
        set_sample (&so, a);
        attributes_release (&so.js);
        if (a->type == ATTRIBUTE_TEXT)
            *(char **)((char *)&so + a->at) = strdup (text);
        else if (a->type == ATTRIBUTE_NUMBER)
            *(int64_t *)((char *)&so + a->at) = (int64_t)a->max + 1;
        else
            *(double *)((char *)&so + a->at) = a->max * 2;
        system = json_object ();
        CHECK (attributes_to_json (system, &so.js) == 0);
        CHECK (attributes_from_json (&js, system, &err) < 0);
        attributes_release (&js);
        json_decref (system);
        submit_options_release (&so);
        text[(size_t)MIN (a->max, 8000.) + 1] = 'a';
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_rows),
        cmocka_unit_test (test_every_scalar_arrives),
        cmocka_unit_test (test_ranges),
    };

    (void)parse;
    (void)make;
    return cmocka_run_group_tests (tests, NULL, NULL);
}
