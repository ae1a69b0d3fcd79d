/* fuzz_hostlist.c - any text as a hostlist (RFC 29); an accepted list is written and reads
 * back with the same names in the same order
 *
 * Parser: common/hostlist.c
 */
#include "fuzz.h"

#include "common/hostlist.h"

#define LIMIT 2048 /* names */

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    autofree char *text = fuzz_text (data, size), *written = NULL;
    autohostlist struct hostlist *again = NULL, *copy = hostlist_create ();
    struct error err = { 0 };
    autohostlist struct hostlist *hl = hostlist_decode (text, LIMIT, &err);

    if (!hl) {
        fuzz_check_refusal (&err, "");
        assert (err.code == EINVAL || err.code == ERANGE);
        return 0;
    }
    size_t n = hostlist_count (hl);
    assert (n <= LIMIT && !hostlist_nth (hl, n) && copy);
    assert (n == 0 || !hostlist_decode (text, n - 1, NULL));
    written = hostlist_encode (hl);
    again = hostlist_decode (written, LIMIT, &err);
    assert (again && hostlist_count (again) == n);
    for (size_t i = 0; i < n; i++) {
        const char *name = hostlist_nth (hl, i);
        assert (*name && strlen (name) <= 255 && !strpbrk (name, ",[] "));
        assert (!strcmp (hostlist_nth (again, i), name));
        ssize_t at = hostlist_find (hl, name);
        assert (at >= 0 && at <= (ssize_t)i);
        assert (hostlist_append (copy, name) == 0);
    }
    autofree char *second = hostlist_encode (copy);
    assert (!strcmp (written, second));
    int rc = hostlist_append (copy, text); /* as one name */
    assert (rc == 0 || rc == -EINVAL);
    assert (hostlist_find (copy, "\n no such name") == -1);
    return 0;
}
