/* entity.c - the entities of sacctmgr, and the words of a query; see sacctmgr.h */
#include "cmd/slurm/accounts/sacctmgr.h"

#include <string.h>
#include <strings.h>

#include "cmd/slurm/acct/acct.h"
#include "cmd/slurm/words/words.h"
#include "common/clock.h"

/* -- the tables -- */

/* Words that all entities have. Deleted records are not kept. */
#define COMMON                                                                           \
    { "Format", 2, WORD_FORMAT, NULL }, { "WithDeleted", 5, WORD_FLAG, NULL },           \
    {                                                                                    \
        "Where", 5, WORD_FLAG, NULL                                                      \
    }

#define ASSOCIATIONS                                                                     \
    { "WithAssoc", 5, WORD_ASSOCIATIONS, NULL },                                         \
        { "WithCoordinators", 5, WORD_FLAG, NULL },                                      \
        { "WithRawQOSLevel", 5, WORD_FLAG, NULL }, { "WOPLimits", 4, WORD_FLAG, NULL },  \
    {                                                                                    \
        "WOPInfo", 4, WORD_FLAG, NULL                                                    \
    }

static const struct query_word user_words[] = {
    COMMON,
    ASSOCIATIONS,
    { "Names", 1, WORD_MEMBER, "user" },
    { "Users", 1, WORD_MEMBER, "user" },
    { "AdminLevel", 2, WORD_MEMBER, "admin" },
    { "Accounts", 2, WORD_MEMBER, "account" },
    { "Clusters", 1, WORD_MEMBER, "cluster" },
    { "DefaultAccount", 8, WORD_MEMBER, "default_account" },
    { "DefaultWCKey", 8, WORD_MEMBER, "default_wckey" },
    { "Partitions", 4, WORD_MEMBER, "partition" },
    { "QOSLevel", 1, WORD_MEMBER, "qos" },
    { 0 },
};

static const struct query_word account_words[] = {
    COMMON,
    ASSOCIATIONS,
    { "Names", 1, WORD_MEMBER, "account" },
    { "Accounts", 2, WORD_MEMBER, "account" },
    { "Acct", 4, WORD_MEMBER, "account" },
    { "Clusters", 1, WORD_MEMBER, "cluster" },
    { "Descriptions", 1, WORD_MEMBER, "description" },
    { "Organizations", 1, WORD_MEMBER, "organization" },
    { "Parents", 4, WORD_MEMBER, "parent" },
    { "QOSLevel", 1, WORD_MEMBER, "qos" },
    { "Users", 1, WORD_MEMBER, "user" },
    { 0 },
};

static const struct query_word association_words[] = {
    COMMON,
    { "OnlyDefaults", 4, WORD_FLAG, NULL },
    { "Tree", 4, WORD_FLAG, NULL },
    { "WithRawQOSLevel", 5, WORD_FLAG, NULL },
    { "WithSubAccounts", 5, WORD_FLAG, NULL },
    { "WOPInfo", 4, WORD_FLAG, NULL },
    { "WOPLimits", 4, WORD_FLAG, NULL },
    { "WOLimits", 4, WORD_FLAG, NULL },
    { "Ids", 1, WORD_MEMBER, "id" },
    { "Accounts", 2, WORD_MEMBER, "account" },
    { "Acct", 4, WORD_MEMBER, "account" },
    { "Clusters", 1, WORD_MEMBER, "cluster" },
    { "Parents", 4, WORD_MEMBER, "parent" },
    { "Partitions", 4, WORD_MEMBER, "partition" },
    { "QOSLevel", 1, WORD_MEMBER, "qos" },
    { "Users", 1, WORD_MEMBER, "user" },
    { 0 },
};

static const struct query_word cluster_words[] = {
    COMMON,
    { "WithFed", 5, WORD_FLAG, NULL },
    { "WOLimits", 4, WORD_FLAG, NULL },
    { "Names", 1, WORD_MEMBER, "cluster" },
    { "Clusters", 3, WORD_MEMBER, "cluster" },
    { 0 },
};

static const struct query_word name_words[] = {
    COMMON,
    { "Names", 1, WORD_MEMBER, "name" },
    { "Ids", 1, WORD_MEMBER, "id" },
    { "Clusters", 1, WORD_MEMBER, "cluster" },
    { "Types", 2, WORD_MEMBER, "type" },
    { 0 },
};

static const struct query_word event_words[] = {
    COMMON,
    { "All_Clusters", 5, WORD_FLAG, NULL },
    { "All_Time", 5, WORD_FLAG, NULL },
    { "Events", 1, WORD_MEMBER, "event" },
    { "Clusters", 1, WORD_MEMBER, "cluster" },
    { "Nodes", 1, WORD_MEMBER, "node" },
    { "Reason", 1, WORD_MEMBER, "reason" },
    { "Start", 4, WORD_START, NULL },
    { "States", 4, WORD_MEMBER, "state" },
    { "User", 1, WORD_MEMBER, "user" },
    { 0 },
};

#define USER_LIMITS                                                                      \
    "Clusters,Accounts,Partition,Share,Priority,MaxJobs,MaxNodes,MaxCPUsPerJob,"         \
    "MaxSubmitJobs,MaxWall,MaxCPUMins,QOSLevel,DefaultQOS"
#define ACCOUNT_LIMITS                                                                   \
    "Clusters,ParentName,User,Share,Priority,GrpJobs,GrpNodes,GrpCPUs,GrpMemory,"        \
    "GrpSubmitJobs,GrpWall,GrpCPUMins,MaxJobs,MaxNodes,MaxCPUsPerJob,MaxSubmitJobs,"     \
    "MaxWall,MaxCPUMins,QOSLevel,DefaultQOS"
#define ASSOCIATION_FIELDS                                                               \
    "Clusters,Accounts,User,Partition,Share,Priority,GrpJobs,GrpTRES,GrpSubmitJobs,"     \
    "GrpWall,GrpTRESMins,MaxJobs,MaxTRES,MaxTRESPerNode,MaxSubmitJobs,MaxWall,"          \
    "MaxTRESMins,QOSLevel,DefaultQOS,GrpTRESRunMins"
#define CLUSTER_FIELDS                                                                   \
    "Clusters,ControlHost,ControlPort,RPC,Share,GrpJobs,GrpTRES,GrpSubmitJobs,MaxJobs,"  \
    "MaxTRES,MaxSubmitJobs,MaxWall,QOSLevel,DefaultQOS"
#define QOS_FIELDS                                                                       \
    "Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags%40,"            \
    "UsageThreshold,UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,"             \
    "GrpSubmitJobs,GrpWall,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPerUser,"   \
    "MaxJobsPerUser,MaxSubmitJobsPerUser,MaxTRESPerAccount,"                             \
    "MaxTRESRunMinsPerAccount%22,MaxTRESRunMinsPerUser%22,MaxJobsPerAccount,"            \
    "MaxSubmitJobsPerAccount,MinTRESPerJob"
#define EVENT_FIELDS "Clusters,NodeNames,TimeStart,TimeEnd,State,Reason,User"
#define RESERVATION_FIELDS "Clusters,Name%15,TRES%30,TimeStart,TimeEnd,UnusedWall"

#define NO_CHANGES                                                                       \
    "changes are not kept; fluxq.yaml has the limits, in your version control"
#define NO_STATS "there is no database daemon; scontrol ping shows the broker"

/* clang-format off */
static const struct entity entities[] = {
    { "Accounts", 2, "account", "Accounts,Description,Organization", ACCOUNT_LIMITS, account_words, entity_get_accounts, NULL, NULL },
    { "Acct", 4, "account", "Accounts,Description,Organization", ACCOUNT_LIMITS, account_words, entity_get_accounts, NULL, NULL },
    { "Associations", 2, "id", ASSOCIATION_FIELDS, NULL, association_words, entity_get_associations, NULL, NULL },
    { "Clusters", 2, "cluster", CLUSTER_FIELDS, NULL, cluster_words, entity_get_clusters, NULL, NULL },
    { "Configuration", 2, NULL, "", NULL, NULL, NULL, entity_print_configuration, NULL },
    { "Events", 1, "event", EVENT_FIELDS, NULL, event_words, entity_get_events, NULL, NULL },
    { "Federation", 1, "name", "Federation,Clusters,ID%2,Features,FedState", NULL, name_words, entity_get_none, NULL, NULL },
    { "Instances", 1, "name", "Clusters,NodeNames,TimeStart,TimeEnd,InstanceId,InstanceType,Extra", NULL, name_words, entity_get_none, NULL, NULL },
    { "Problems", 1, NULL, "Clusters,Accounts,User,Problem", NULL, association_words, entity_get_none, NULL, NULL },
    { "RunawayJobs", 2, NULL, "", NULL, NULL, NULL, entity_print_runaway, NULL },
    { "OrphanJobs", 1, NULL, "", NULL, NULL, NULL, entity_print_runaway, NULL },
    { "LostJobs", 1, NULL, "", NULL, NULL, NULL, entity_print_runaway, NULL },
    { "QOS", 1, "name", QOS_FIELDS, NULL, name_words, entity_get_qos, NULL, NULL },
    { "Resource", 4, "name", "Name,Server,Type,Count,LastConsumed,Allocated,ServerType,Flags", NULL, name_words, entity_get_none, NULL, NULL },
    { "Reservations", 4, "name", RESERVATION_FIELDS, NULL, name_words, entity_get_reservations, NULL, NULL },
    { "Resv", 4, "name", RESERVATION_FIELDS, NULL, name_words, entity_get_reservations, NULL, NULL },
    { "Stats", 1, NULL, "", NULL, NULL, NULL, NULL, NO_STATS },
    { "Transactions", 1, NULL, "", NULL, NULL, NULL, NULL, NO_CHANGES },
    { "Txn", 3, NULL, "", NULL, NULL, NULL, NULL, NO_CHANGES },
    { "Users", 1, "user", "User,DefaultAccount,AdminLevel", USER_LIMITS, user_words, entity_get_users, NULL, NULL },
    { "WCKeys", 1, "name", "WCKey,Clusters,User", NULL, name_words, entity_get_none, NULL, NULL },
    { "TRES", 2, "type", "Type,Name%15,ID", NULL, name_words, entity_get_tres, NULL, NULL },
    { 0 },
};
/* clang-format on */

static bool is_beginning (const char *word, size_t len, const char *name, size_t min)
{
    return len >= min && len <= strlen (name) && !strncasecmp (word, name, len);
}

const struct entity *entity_find (const char *word)
{
    for (const struct entity *e = entities; e->name; e++)
        if (is_beginning (word, strlen (word), e->name, e->min))
            return e;
    return NULL;
}

/* -- the words of a query -- */

static int add_condition (struct cmd *c, struct query *q, const char *member,
                          const char *list)
{
    if (q->n == CONDITIONS_MAX)
        return cmd_fail (c, "more than %d conditions", CONDITIONS_MAX);
    q->conditions[q->n].member = member;
    q->conditions[q->n++].list = list;
    return CMD_OK;
}

/* Events are those of now, so none is after a time to come. */
static int read_start (struct cmd *c, struct query *q, const char *text)
{
    double now = clock_wall (), start;
    int at;

    if (acct_parse_time (text, now, &start, &at) < 0)
        return cmd_fail (c, "Invalid time specification (pos=%d): %s", at, text);
    q->nothing = start > now;
    return CMD_OK;
}

static const struct query_word *find_word (const struct entity *e, const char *word,
                                           size_t len, bool has_value)
{
    for (const struct query_word *w = e->words; w && w->name; w++) {
        bool takes_value = w->id != WORD_FLAG && w->id != WORD_ASSOCIATIONS;
        if (takes_value == has_value && is_beginning (word, len, w->name, w->min))
            return w;
    }
    return NULL;
}

static int read_word (struct cmd *c, const struct entity *e, struct query *q,
                      const char *word)
{
    const char *equals = strchr (word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen (word);
    const struct query_word *w = find_word (e, word, len, equals);

    if (!w && !equals && e->names && strcasecmp (word, "set") != 0)
        return add_condition (c, q, e->names, word);
    if (!w) {
        fprintf (stderr, " Unknown condition: %s\n Use keyword 'set' to modify value\n",
                 word);
        return c->status = CMD_FAILED;
    }
    switch (w->id) {
    case WORD_FLAG:
        break;
    case WORD_ASSOCIATIONS:
        q->associations = true;
        break;
    case WORD_FORMAT:
        strbuf_addf (&q->fields, "%s,", equals + 1);
        break;
    case WORD_MEMBER:
        return add_condition (c, q, w->member, equals + 1);
    case WORD_START:
        return read_start (c, q, equals + 1);
    }
    return CMD_OK;
}

int entity_read_words (struct cmd *c, const struct entity *e, struct query *q,
                       const char *const words[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (read_word (c, e, q, words[i]) != CMD_OK)
            return c->status;
    return CMD_OK;
}

bool entity_matches (const struct query *q, const json_t *row)
{
    if (q->nothing)
        return false;
    for (size_t i = 0; i < q->n; i++)
        if (!slurm_list_has (q->conditions[i].list,
                             json_text (row, q->conditions[i].member)))
            return false;
    return true;
}
