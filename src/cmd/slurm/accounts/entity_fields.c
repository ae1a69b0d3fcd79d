/* entity_fields.c - the fields of sacctmgr; see sacctmgr.h
 *
 * The names and the headings are Slurm's. fluxq has no limits of accounts and QOS, so the
 * fields of limits are empty, as in Slurm when no limit is set. The order decides which
 * field a shortened name stands for.
 */
#include "cmd/slurm/accounts/sacctmgr.h"

#include "cmd/slurm/words/record.h"

#define MEMBER(name)                                                                     \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        record_add_text (sb, json_text (row, #name));                                    \
    }

MEMBER (account)
MEMBER (admin)
MEMBER (cluster)
MEMBER (cluster_nodes)
MEMBER (description)
MEMBER (end)
MEMBER (event)
MEMBER (grace)
MEMBER (host)
MEMBER (id)
MEMBER (name)
MEMBER (node)
MEMBER (organization)
MEMBER (port)
MEMBER (preempt_mode)
MEMBER (priority)
MEMBER (qos)
MEMBER (reason)
MEMBER (share)
MEMBER (start)
MEMBER (state)
MEMBER (tres)
MEMBER (type)
MEMBER (usage_factor)
MEMBER (user)

/* clang-format off */
const struct list_field entity_fields[] = {
    { "Accounts", 10, LIST_TEXT, 0, add_account, false, "Account" },
    { "Acct", 10, LIST_TEXT, 0, add_account, true, "Account" },
    { "Action", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "ActionRaw", 10, LIST_NUMBER, 0, NULL, false, NULL },
    { "Actor", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "AdminLevel", 9, LIST_TEXT, 0, add_admin, false, "Admin" },
    { "Allocated", 9, LIST_NUMBER, 0, NULL, false, NULL },
    { "Allowed", 8, LIST_NUMBER, 0, NULL, false, NULL },
    { "Associations", 10, LIST_TEXT, 0, NULL, false, "Assocs" },
    { "Classification", 9, LIST_TEXT, 0, NULL, false, "Class" },
    { "Clusters", 10, LIST_TEXT, 0, add_cluster, false, "Cluster" },
    { "ClusterNodes", 20, LIST_TEXT, 0, add_cluster_nodes, false, "Cluster Nodes" },
    { "Coordinators", 20, LIST_TEXT, 0, NULL, false, "Coord Accounts" },
    { "Comment", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "ControlHost", 15, LIST_TEXT, 0, add_host, false, NULL },
    { "ControlPort", 12, LIST_NUMBER, 0, add_port, false, NULL },
    { "Count", 6, LIST_NUMBER, 0, NULL, false, NULL },
    { "CountAllowed", 10, LIST_NUMBER, 0, NULL, false, "# Allowed" },
    { "CountUsed", 10, LIST_NUMBER, 0, NULL, false, "# Used" },
    { "CPUCount", 7, LIST_TEXT, 0, NULL, false, "CPU Cnt" },
    { "DefaultAccount", 10, LIST_TEXT, 0, NULL, false, "Def Acct" },
    { "DefaultQOS", 9, LIST_TEXT, 0, NULL, false, "Def QOS" },
    { "DefaultWCKey", 10, LIST_TEXT, 0, NULL, false, "Def WCKey" },
    { "Description", 20, LIST_TEXT, 0, add_description, false, "Descr" },
    { "Duration", 13, LIST_NUMBER, 0, NULL, false, NULL },
    { "Eligible", 19, LIST_PLAIN, 0, NULL, true, "TimeEligible" },
    { "End", 19, LIST_PLAIN, 0, add_end, true, "TimeEnd" },
    { "Event", 7, LIST_TEXT, 0, add_event, false, NULL },
    { "EventRaw", 8, LIST_NUMBER, 0, NULL, false, NULL },
    { "Extra", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "FairShare", 9, LIST_NUMBER, 0, add_share, true, "Share" },
    { "Features", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "Federation", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "FedState", 12, LIST_TEXT, 0, NULL, false, NULL },
    { "FedStateRaw", 11, LIST_NUMBER, 0, NULL, false, NULL },
    { "Flags", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "GraceTime", 10, LIST_NUMBER, 0, add_grace, false, NULL },
    { "GrpCPUs", 8, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpCPUMins", 11, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpCPURunMins", 13, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpTRES", 13, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpTRESMins", 13, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpTRESRunMins", 13, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpJobs", 7, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpJobsAccrue", 13, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpMemory", 7, LIST_TEXT, 0, NULL, false, "GrpMem" },
    { "GrpNodes", 8, LIST_TEXT, 0, NULL, false, NULL },
    { "GrpSubmitJobs", 9, LIST_TEXT, 0, NULL, false, "GrpSubmit" },
    { "GrpWall", 11, LIST_TEXT, 0, NULL, false, NULL },
    { "ID", 6, LIST_NUMBER, 0, add_id, false, NULL },
    { "Info", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "InstanceId", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "InstanceType", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "LastConsumed", 12, LIST_NUMBER, 0, NULL, false, NULL },
    { "LimitFactor", 11, LIST_NUMBER, 0, NULL, false, NULL },
    { "Lineage", -20, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxCPUMinsPerJob", 11, LIST_TEXT, 0, NULL, false, "MaxCPUMins" },
    { "MaxCPURunMinsPerUser", 15, LIST_TEXT, 0, NULL, false, "MaxCPURunMinsPU" },
    { "MaxCPUsPerJob", 8, LIST_TEXT, 0, NULL, false, "MaxCPUs" },
    { "MaxCPUsPerUser", 9, LIST_TEXT, 0, NULL, false, "MaxCPUsPU" },
    { "MaxTRES", 13, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxTRESPerNode", 14, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxTRESMinsPerJob", 13, LIST_TEXT, 0, NULL, false, "MaxTRESMins" },
    { "MaxTRESRunMinsPerAccount", 16, LIST_TEXT, 0, NULL, false, "MaxTRESRunMinsPA" },
    { "MaxTRESRunMinsPerUser", 16, LIST_TEXT, 0, NULL, false, "MaxTRESRunMinsPU" },
    { "MaxTRESPerAccount", 13, LIST_TEXT, 0, NULL, false, "MaxTRESPA" },
    { "MaxTRESPerUser", 13, LIST_TEXT, 0, NULL, false, "MaxTRESPU" },
    { "MaxJobs", 7, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxJobsAccrue", 13, LIST_TEXT, 0, NULL, false, NULL },
    { "MaxJobsPerAccount", 9, LIST_TEXT, 0, NULL, false, "MaxJobsPA" },
    { "MaxJobsPerUser", 9, LIST_TEXT, 0, NULL, false, "MaxJobsPU" },
    { "MaxNodesPerJob", 8, LIST_TEXT, 0, NULL, false, "MaxNodes" },
    { "MaxNodesPerUser", 10, LIST_TEXT, 0, NULL, false, "MaxNodesPU" },
    { "MaxSubmitJobs", 9, LIST_TEXT, 0, NULL, false, "MaxSubmit" },
    { "MaxSubmitJobsPerAccount", 11, LIST_TEXT, 0, NULL, false, "MaxSubmitPA" },
    { "MaxSubmitJobsPerUser", 11, LIST_TEXT, 0, NULL, false, "MaxSubmitPU" },
    { "MaxWallDurationPerJob", 11, LIST_TEXT, 0, NULL, false, "MaxWall" },
    { "MinCPUsPerJob", 8, LIST_TEXT, 0, NULL, false, "MinCPUs" },
    { "MinPrioThreshold", 12, LIST_TEXT, 0, NULL, false, "MinPrioThres" },
    { "MinTRESPerJob", 13, LIST_TEXT, 0, NULL, false, "MinTRES" },
    { "MaxTRESPJ", 13, LIST_TEXT, 0, NULL, true, "MaxTRES" },
    { "MaxTRESPerJob", 13, LIST_TEXT, 0, NULL, true, "MaxTRES" },
    { "MaxTRESPN", 14, LIST_TEXT, 0, NULL, true, "MaxTRESPerNode" },
    { "MaxTRESMinsPJ", 13, LIST_TEXT, 0, NULL, true, "MaxTRESMins" },
    { "MaxTRESRunMinsPA", 16, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxTRESRunMinsPerAcct", 16, LIST_TEXT, 0, NULL, true, "MaxTRESRunMinsPA" },
    { "MaxTRESRunMinsPU", 16, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxTRESPA", 13, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxTRESPerAcct", 13, LIST_TEXT, 0, NULL, true, "MaxTRESPA" },
    { "MaxTRESPU", 13, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxJobsPA", 9, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxJobsPerAcct", 9, LIST_TEXT, 0, NULL, true, "MaxJobsPA" },
    { "MaxJobsPU", 9, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxSubmitPA", 11, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxSubmitJobsPerAcct", 11, LIST_TEXT, 0, NULL, true, "MaxSubmitPA" },
    { "MaxSubmitPU", 11, LIST_TEXT, 0, NULL, true, NULL },
    { "MaxSubmitJobsPU", 11, LIST_TEXT, 0, NULL, true, "MaxSubmitPU" },
    { "Name", 10, LIST_TEXT, 0, add_name, false, NULL },
    { "NodeCount", 9, LIST_NUMBER, 0, NULL, false, NULL },
    { "NodeInx", 9, LIST_TEXT, 0, NULL, false, NULL },
    { "NodeNames", -15, LIST_TEXT, 0, add_node, false, "NodeName" },
    { "Organization", 20, LIST_TEXT, 0, add_organization, false, "Org" },
    { "ParentID", 8, LIST_NUMBER, 0, NULL, false, NULL },
    { "ParentName", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "Partition", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "Preempt", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "PreemptMode", 11, LIST_TEXT, 0, add_preempt_mode, false, NULL },
    { "PreemptExemptTime", 19, LIST_TEXT, 0, NULL, false, NULL },
    { "Priority", 10, LIST_NUMBER, 0, add_priority, false, NULL },
    { "Problem", 40, LIST_TEXT, 0, NULL, false, NULL },
    { "QOSLevel", 20, LIST_TEXT, 0, add_qos, false, "QOS" },
    { "QOSRAWLevel", 10, LIST_TEXT, 0, NULL, false, "QOS_RAW" },
    { "Reason", 30, LIST_TEXT, 0, add_reason, false, NULL },
    { "RPC", 5, LIST_NUMBER, 0, NULL, false, NULL },
    { "Server", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "ServerType", 10, LIST_TEXT, 0, NULL, false, NULL },
    { "Share", 9, LIST_NUMBER, 0, add_share, false, NULL },
    { "State", 6, LIST_TEXT, 0, add_state, false, NULL },
    { "StateRaw", 8, LIST_NUMBER, 0, NULL, false, NULL },
    { "Start", 19, LIST_PLAIN, 0, add_start, true, "TimeStart" },
    { "Submit", 19, LIST_PLAIN, 0, NULL, true, "TimeSubmit" },
    { "TimeStamp", 19, LIST_PLAIN, 0, NULL, false, "Time" },
    { "TimeEligible", 19, LIST_PLAIN, 0, NULL, false, NULL },
    { "TimeEnd", 19, LIST_PLAIN, 0, add_end, false, NULL },
    { "TimeStart", 19, LIST_PLAIN, 0, add_start, false, NULL },
    { "TimeSubmit", 19, LIST_PLAIN, 0, NULL, false, NULL },
    { "TRES", 20, LIST_TEXT, 0, add_tres, false, NULL },
    { "Type", 8, LIST_TEXT, 0, add_type, false, NULL },
    { "User", 10, LIST_TEXT, 0, add_user, false, NULL },
    { "UnusedWall", 10, LIST_NUMBER, 0, NULL, false, NULL },
    { "UsageFactor", 11, LIST_NUMBER, 0, add_usage_factor, false, NULL },
    { "UsageThreshold", 10, LIST_NUMBER, 0, NULL, false, "UsageThres" },
    { "WCKey", 10, LIST_TEXT, 0, NULL, true, NULL },
    { "WCKeys", 20, LIST_TEXT, 0, NULL, false, NULL },
    { "Where", 20, LIST_TEXT, 0, NULL, false, NULL },
    { 0 },
};
/* clang-format on */
