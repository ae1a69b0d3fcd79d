/* record.c - see record.h */
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"

#include <math.h>
#include <time.h>

#include "cmd/print/print.h"
#include "common/gres.h"
#include "common/parse.h"
#include "common/printable.h"
#include "common/thousandths.h"

#define VALUE_MAX (4 << 20)

void record_add_text (struct strbuf *sb, const char *text)
{
    autofree char *copy = strdup (text);

    if (!copy)
        return;
    printable_clean (copy);
    strbuf_adds (sb, copy);
}

void record_add_time (struct strbuf *sb, double t)
{
    if (t > 0 && t < 1e11)
        slurm_add_time (sb, t);
    else
        strbuf_adds (sb, "Unknown");
}

void record_add_duration (struct strbuf *sb, double seconds)
{
    uint64_t n = seconds > 0 && seconds < 1e15 ? (uint64_t)seconds : 0;

    if (n >= 86400)
        strbuf_addf (sb, "%ju-", (uintmax_t)(n / 86400));
    strbuf_addf (sb, "%02u:%02u:%02u", (unsigned)(n / 3600 % 24), (unsigned)(n / 60 % 60),
                 (unsigned)(n % 60));
}

void record_add_memory (struct strbuf *sb, double mib)
{
    static const char units[] = "MGTPE";
    size_t i = 0;

    if (mib <= 0) {
        strbuf_adds (sb, "0");
        return;
    }
    while (fmod (mib, 1024) == 0 && i + 2 < sizeof (units)) {
        mib /= 1024;
        i++;
    }
    strbuf_addf (sb, "%.0f%c", mib, units[i]);
}

static void add_tres (struct strbuf *sb, const char *name, double count)
{
    if (count > 0)
        strbuf_addf (sb, "%s%s=%.10g", sb->len ? "," : "", name, count);
}

void record_add_tres (struct strbuf *ret, const struct tres *t)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    const char *name;
    json_t *count;

    add_tres (&sb, "cpu", t->cpus);
    if (t->memory_mib > 0) {
        strbuf_addf (&sb, "%smem=", sb.len ? "," : "");
        record_add_memory (&sb, t->memory_mib);
    }
    add_tres (&sb, "node", t->nodes);
    add_tres (&sb, "gres/gpu", t->gpus);
    json_object_foreach ((json_t *)t->gres, name, count) {
        char key[300];
        snprintf (key, sizeof (key), "gres/%s", name);
        if (!gres_is_reserved (name))
            add_tres (&sb, key, json_number_value (count));
    }
    if (t->licenses)
        slurm_add_licenses (&sb, t->licenses);
    record_add_text (ret, sb.buf);
}

/* -- rows -- */

static void add_number (struct strbuf *sb, const struct row *row, const json_t *value)
{
    if (json_is_number (value))
        strbuf_addf (sb, "%.15g", json_number_value (value));
    else
        strbuf_adds (sb, row->none ? row->none : row->optional ? "" : "0");
}

static void add_member (struct strbuf *sb, const struct row *row, const json_t *o)
{
    const json_t *value = json_object_get (o, row->from);
    double n = json_number_value (value);
    const char *text;

    switch (row->kind) {
    case ROW_TEXT:
        text = json_text (o, row->from);
        if (*text)
            record_add_text (sb, text);
        else if (!row->optional)
            strbuf_adds (sb, row->none ? row->none : "(null)");
        return;
    case ROW_NUMBER:
        add_number (sb, row, value);
        return;
    case ROW_TIME:
        if (n > 0)
            record_add_time (sb, n);
        else if (!row->optional)
            strbuf_adds (sb, row->none ? row->none : "Unknown");
        return;
    case ROW_DURATION:
        if (n <= 0 && row->none)
            strbuf_adds (sb, row->none);
        else
            record_add_duration (sb, n);
        return;
    case ROW_FLAG:
        strbuf_adds (sb, json_is_true (value) ? "1" : "0");
    }
}

static void add_value (struct strbuf *sb, const struct row *row, const json_t *o)
{
    if (row->fixed)
        strbuf_adds (sb, row->fixed);
    else if (row->add)
        row->add (sb, o);
    else
        add_member (sb, row, o);
}

void record_add (struct strbuf *sb, const struct row *rows, const json_t *o, int flags)
{
    const char *line_end = flags & RECORD_ONE_LINE ? " " : "\n   ";
    const char *before = "";
    struct strbuf value = STRBUF_INIT (VALUE_MAX);

    for (const struct row *row = rows; row->key; row++) {
        if (row->detail && !(flags & RECORD_DETAILS))
            continue;
        strbuf_reset (&value);
        add_value (&value, row, o);
        if (row->optional && value.len == 0)
            continue;
        strbuf_adds (sb, before);
        strbuf_addf (sb, "%s%s", row->key, *row->key ? "=" : "");
        strbuf_add (sb, value.buf, value.len);
        before = row->ends ? line_end : " ";
    }
    strbuf_release (&value);
}
