/* fuzz_pmi.c - messages of a hostile task to its PMI.
 *
 * Parser: shell/pmi/pmi.c shell/pmi/pmi1.c shell/pmi/pmi2.c shell/pmi/kvs.c
 *
 * The first byte sets the division of the rest: the replies must equal those to the
 * undivided text. Everything comes from one task; a second task, which is in the fence
 * from the beginning, gets at most one reply for each fence of the first.
 */
#include <stdint.h>
#include <string.h>

#include "common/macros.h"
#include "common/strbuf.h"
#include "shell/pmi/pmi.h"

struct session {
    struct pmi *pmi;
    struct strbuf heard[2];
    int aborts;
    int rc;
};

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void on_send (void *ctx, uint32_t local, const char *data, size_t len)
{
    struct session *s = ctx;

    if (len == 0 || local > 1)
        abort ();
    strbuf_add (&s->heard[local], data, len);
}

static void on_exchange (void *ctx, const char *data, size_t len)
{
    struct session *s = ctx;

    if (pmi_exchanged (s->pmi, data, len, NULL) < 0)
        abort ();
}

static void on_abort (void *ctx, uint32_t local, int status, const char *text)
{
    struct session *s = ctx;

    if (local != 0 || status < 1 || status > 255 || strlen (text) >= PMI_ABORT_TEXT_MAX
        || ++s->aborts > 1)
        abort ();
}

static void run (struct session *s, const char *data, size_t size, size_t step)
{
    static const uint32_t global[] = { 0, 1 }, node_of[] = { 0, 0 };
    static const struct pmi_config config = { "1", 2, 2, global, node_of, 1 };
    static const struct pmi_events events = { on_send, on_exchange, on_abort };
    const char *other = "cmd=init pmi_version=1\ncmd=barrier_in\n";
    struct error err = { 0 };

    memset (s, 0, sizeof (*s));
    for (int i = 0; i < 2; i++)
        strbuf_init (&s->heard[i], 1 << 26);
    s->pmi = pmi_create (&config, &events, s, NULL);
    if (!s->pmi || pmi_receive (s->pmi, 1, other, strlen (other), NULL) < 0)
        abort ();
    for (size_t at = 0; at < size && s->rc == 0; at += step)
        s->rc = pmi_receive (s->pmi, 0, data + at, MIN (step, size - at), &err);
    if (s->rc < 0 && err.text[0] == '\0')
        abort ();
    pmi_closed (s->pmi, 0);
    pmi_destroy (s->pmi);
}

static void release (struct session *s)
{
    for (int i = 0; i < 2; i++)
        strbuf_release (&s->heard[i]);
}

static bool is_same (const struct strbuf *a, const struct strbuf *b)
{
    return a->len == b->len && memcmp (a->buf, b->buf, a->len) == 0;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct session whole, steps;

    if (size < 2)
        return 0;
    run (&whole, (const char *)data + 1, size - 1, size);
    run (&steps, (const char *)data + 1, size - 1, 1 + data[0]);
    if (whole.rc != steps.rc || whole.aborts != steps.aborts
        || !is_same (&whole.heard[0], &steps.heard[0])
        || !is_same (&whole.heard[1], &steps.heard[1]))
        abort ();
    release (&whole);
    release (&steps);
    return 0;
}
