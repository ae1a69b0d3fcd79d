/* sprio_fields.c - the fields of sprio; see sprio.h
 *
 * SITE is the part of a priority that no other term explains: the urgency, which Slurm
 * does not have. There are no terms for associations, QOS and TRES.
 */
#include "cmd/slurm/jobs/sprio.h"

#include "cmd/print/print.h"
#include "cmd/slurm/words/record.h"

#define ONE_IN_SLURM 4294967295.0 /* the priority that %y shows as 1 */

/* The words of the row of weights. */
static void add_text (const struct terms *row, const char *member, const char *of_weights,
                      struct strbuf *sb)
{
    record_add_text (sb, row->job ? json_text (row->job, member) : of_weights);
}

#define FIELD(name)                                                                      \
    static void value_##name (const struct terms *row, struct strbuf *sb);               \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        value_##name (row, sb);                                                          \
    }                                                                                    \
    static void value_##name (const struct terms *row, struct strbuf *sb)

FIELD (user)
{
    add_text (row, "user", "", sb);
}

FIELD (partition)
{
    add_text (row, "queue", "", sb);
}

FIELD (account)
{
    add_text (row, "account", "", sb);
}

FIELD (qos_name)
{
    add_text (row, "qos", "", sb);
}

FIELD (id)
{
    if (row->job)
        strbuf_addf (sb, "%.0f", answer_number (row->job, "id"));
    else
        strbuf_adds (sb, "Weights");
}

/* A term is points of the job, and a factor when its weight is divided out. */
static void add_points (const struct terms *row, const char *member, const char *weight,
                        struct strbuf *sb)
{
    strbuf_addf (sb, "%.0f",
                 row->job ? answer_number (row->job, member)
                          : answer_number (row->weights, weight));
}

static void add_factor (const struct terms *row, const char *member, const char *weight,
                        struct strbuf *sb)
{
    double w = answer_number (row->weights, weight);

    if (row->job)
        strbuf_addf (sb, "%.7f", w != 0 ? answer_number (row->job, member) / w : 0);
    else
        strbuf_addf (sb, "%.0f", w);
}

#define TERM(name, weight)                                                               \
    FIELD (name)                                                                         \
    {                                                                                    \
        add_points (row, "priority_" weight, weight, sb);                                \
    }                                                                                    \
    FIELD (name##_factor)                                                                \
    {                                                                                    \
        add_factor (row, "priority_" weight, weight, sb);                                \
    }

TERM (age, "age")
TERM (fair_share, "fair_share")
TERM (size, "size")
TERM (queue, "queue")

/* A term that fluxq does not have. */
FIELD (no_term)
{
    (void)row;
    strbuf_adds (sb, "0");
}

FIELD (no_factor)
{
    strbuf_adds (sb, row->job ? "0.0000000" : "0");
}

FIELD (nothing)
{
    (void)row;
    (void)sb;
}

FIELD (nice)
{
    if (row->job)
        strbuf_addf (sb, "%.0f", answer_number (row->job, "nice"));
}

/* A fixed priority has no terms. */
static double site_of (const json_t *job)
{
    if (json_is_number (json_object_get (job, "priority_fixed")))
        return 0;
    return answer_number (job, "priority") - answer_number (job, "priority_queue")
           - answer_number (job, "priority_age") - answer_number (job, "priority_size")
           - answer_number (job, "priority_fair_share") + answer_number (job, "nice");
}

FIELD (site)
{
    strbuf_addf (sb, "%.0f", row->job ? site_of (row->job) : 1);
}

FIELD (priority)
{
    if (row->job)
        strbuf_addf (sb, "%.0f", answer_number (row->job, "priority"));
}

FIELD (priority_part)
{
    if (row->job)
        strbuf_addf (sb, "%16.14f", answer_number (row->job, "priority") / ONE_IN_SLURM);
}

const struct slurm_field sprio_fields[] = {
    { 'a', "AgeFactor", "AGE", 0, add_age_factor, 0 },
    { 'A', "Age", "AGE", 0, add_age, 0 },
    { 'b', "AssocFactor", "ASSOC", 0, add_no_factor, 0 },
    { 'B', "Assoc", "ASSOC", 0, add_no_term, 0 },
    { 'f', "FairShareFactor", "FAIRSHARE", 0, add_fair_share_factor, 0 },
    { 'F', "FairShare", "FAIRSHARE", 0, add_fair_share, 0 },
    { 'i', "JobID", "JOBID", 0, add_id, 0 },
    { 'j', "JobSizeFactor", "JOBSIZE", 0, add_size_factor, 0 },
    { 'J', "JobSize", "JOBSIZE", 0, add_size, 0 },
    { 'n', "QOSName", "QOSNAME", 0, add_qos_name, 0 },
    { 'N', "Nice", "NICE", 0, add_nice, 0 },
    { 'o', "Account", "ACCOUNT", 0, add_account, 0 },
    { 'p', "PartitionFactor", "PARTITION", 0, add_queue_factor, 0 },
    { 'P', "PartitionPoints", "PARTITION", 0, add_queue, 0 },
    { 'q', "QOSFactor", "QOS", 0, add_no_factor, 0 },
    { 'Q', "QOS", "QOS", 0, add_no_term, 0 },
    { 'r', "Partition", "PARTITION", 0, add_partition, 0 },
    { 'S', "Site", "SITE", 0, add_site, 0 },
    { 't', "TRESFactor", "TRES", 0, add_nothing, 0 },
    { 'T', "TRES", "TRES", 0, add_nothing, 0 },
    { 'u', "User", "USER", 0, add_user, 0 },
    { 'y', "PriorityPart", "PRIORITY", 0, add_priority_part, 0 },
    { 'Y', "Priority", "PRIORITY", 0, add_priority, 0 },
    { 0 },
};
