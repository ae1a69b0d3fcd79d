/* fuzz_idset.c - any text as an idset (RFC 22); an accepted set is written and reads back
 * as the same set, and the set's operations agree with each other
 *
 * Parser: common/idset.c
 */
#include "fuzz.h"

#include "common/idset.h"

#define LIMIT 4096 /* ids */

static void check_order (const struct idset *s)
{
    uint32_t n = 0;

    IDSET_FOREACH (s, id)
    {
        assert (id < UINT32_C (1) << 31 && idset_has (s, id));
        assert (idset_rank (s, id) == n && idset_nth (s, n) == id);
        n++;
    }
    assert (n == idset_count (s) && n <= LIMIT && idset_nth (s, n) == IDSET_END);
}

static void check_text (const struct idset *s)
{
    autofree char *text = idset_encode (s), *second = NULL;
    autoidset struct idset *again = idset_decode (text, LIMIT, NULL);
    uint32_t n = idset_count (s);

    assert (again && idset_equal (s, again));
    assert (n == 0 || !idset_decode (text, n - 1, NULL)); /* more ids than the limit */
    second = idset_encode (again);
    assert (!strcmp (text, second));
}

static void check_sums (const struct idset *a, const struct idset *b)
{
    autoidset struct idset *both = idset_copy (a), *rest = idset_copy (a);
    struct idset *const two[] = { (struct idset *)a, (struct idset *)b };
    autoidset struct idset *united = idset_unite (two, 2);

    assert (both && rest && united);
    assert (idset_add_all (both, b) == 0 && idset_equal (both, united));
    assert (idset_remove_all (rest, b) == 0);
    IDSET_FOREACH (united, id)
    {
        assert (idset_has (a, id) || idset_has (b, id));
        assert (idset_has (rest, id) == (idset_has (a, id) && !idset_has (b, id)));
    }
    IDSET_FOREACH (b, id)
    assert (idset_remove (both, id) == 0 && !idset_has (both, id));
    assert (idset_equal (both, rest));
}

static void check_changes (struct idset *s, struct fuzz_input *in)
{
    while (in->size > 0) {
        uint32_t first = fuzz_number (in), last = first + fuzz_byte (in) % 16;
        int rc = idset_add_range (s, first, last);
        assert (rc == 0 || rc == -ERANGE);
        assert (rc == 0 ? idset_has (s, last)
                        : last >= UINT32_C (1) << 31 || last < first);
        rc = idset_add (s, last ^ 1);
        assert (rc == 0 || rc == -ERANGE);
        assert (idset_remove (s, first) == 0 && !idset_has (s, first));
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    autofree char *one = fuzz_line (&in), *two = fuzz_line (&in);
    struct error err = { 0 };
    autoidset struct idset *a = idset_decode (one, LIMIT, &err),
                           *b = idset_decode (two, LIMIT, NULL);

    if (!a)
        fuzz_check_refusal (&err, "");
    if (!a || !b)
        return 0;
    check_order (a);
    check_text (a);
    check_sums (a, b);
    check_changes (a, &in);
    check_text (b);
    return 0;
}
