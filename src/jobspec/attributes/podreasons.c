/* podreasons.c - see podreasons.h */
#include "jobspec/attributes/podreasons.h"

#include "common/macros.h"

#define PLACED                                                                           \
    "fluxq chooses the nodes; say --constraint, --nodelist, --exclude or a queue"
#define IDENTITY "the job runs as you, within the cluster's security profile"
#define AGENT "fluxq's agent runs there, and starts your program"
#define ENDS "fluxq starts and ends all pods of a job together"
#define HOST "settings of the node belong to the administrator"

/* [] stands for any index. */
static const struct {
    const char *field, *why;
} reasons[] = {
    { "metadata.name", "fluxq names the pods" },
    { "metadata.generateName", "fluxq names the pods" },
    { "metadata.namespace", "the queue has the namespace" },
    { "metadata.ownerReferences", "the pods belong to the job" },
    { "metadata.finalizers", "they would keep the job's nodes" },
    { "spec.nodeName", PLACED },
    { "spec.nodeSelector", PLACED },
    { "spec.affinity", PLACED },
    { "spec.tolerations", PLACED },
    { "spec.topologySpreadConstraints", "say --placement, --nodes-per or --switches" },
    { "spec.schedulerName", PLACED },
    { "spec.schedulingGates", PLACED },
    { "spec.schedulingGroup", ENDS },
    { "spec.readinessGates", ENDS },
    { "spec.restartPolicy", "say --requeue or --no-requeue" },
    { "spec.activeDeadlineSeconds", "say --time" },
    { "spec.terminationGracePeriodSeconds", "say --signal to be told before the end" },
    { "spec.serviceAccountName", "say --service-account" },
    { "spec.serviceAccount", "say --service-account" },
    { "spec.automountServiceAccountToken", IDENTITY },
    { "spec.priorityClassName", "say --priority-class" },
    { "spec.priority", "say --priority-class" },
    { "spec.preemptionPolicy", "say --priority-class" },
    { "spec.runtimeClassName", "say --runtime-class" },
    { "spec.overhead", "say --runtime-class" },
    { "spec.hostNetwork", "say --host-network" },
    { "spec.hostPID", HOST },
    { "spec.hostIPC", HOST },
    { "spec.hostUsers", HOST },
    { "spec.hostname", "fluxq names the pods" },
    { "spec.setHostnameAsFQDN", "fluxq names the pods" },
    { "spec.subdomain", "fluxq names the pods" },
    { "spec.hostAliases", "the ranks find each other by name" },
    { "spec.dnsPolicy", "the ranks find each other by name" },
    { "spec.dnsConfig.nameservers", "the ranks find each other by name" },
    { "spec.securityContext", IDENTITY },
    { "spec.imagePullSecrets", "the queue has them" },
    { "spec.resources", "say -c, --mem" },
    { "spec.resourceClaims", "the queue has its devices" },
    { "spec.shareProcessNamespace", AGENT },
    { "spec.initContainers",
      "a container of your own could keep the pods from starting or "
      "ending together; let your program do that" },
    { "spec.ephemeralContainers", "add them to pods that run" },
    { "spec.containers[].image", "say --image" },
    { "spec.containers[].imagePullPolicy", "the cluster has it" },
    { "spec.containers[].command", AGENT },
    { "spec.containers[].args", AGENT },
    { "spec.containers[].workingDir", "say --chdir" },
    { "spec.containers[].env", "say --export NAME=VALUE" },
    { "spec.containers[].envFrom", "say --export, or mount it as a volume" },
    { "spec.containers[].resources", "say -c, --mem, -G" },
    { "spec.containers[].resizePolicy", "say -c, --mem" },
    { "spec.containers[].securityContext", IDENTITY },
    { "spec.containers[].lifecycle", ENDS },
    { "spec.containers[].livenessProbe", ENDS },
    { "spec.containers[].readinessProbe", ENDS },
    { "spec.containers[].startupProbe", ENDS },
    { "spec.containers[].restartPolicy", ENDS },
    { "spec.containers[].ports", AGENT },
    { "spec.containers[].stdin", "say --input" },
    { "spec.containers[].tty", "say fluxq-run --pty" },
    { "spec.containers[].volumeDevices", HOST },
    { "spec.containers[].volumeMounts[].subPath", "make two volumes" },
    { "spec.containers[].volumeMounts[].subPathExpr", "make two volumes" },
    { "spec.containers[].volumeMounts[].mountPropagation", HOST },
    { "spec.volumes[].hostPath", HOST ": say --volume" },
    { "spec.volumes[].persistentVolumeClaim", "say --volume, of the queue's list" },
    { "spec.volumes[].nfs", "say --volume, of the queue's list" },
    { "spec.volumes[].csi", "say --volume, of the queue's list" },
    { "spec.volumes[].ephemeral", "say --volume, of the queue's list" },
    { "spec.volumes[].emptyDir.medium", "say --shm-size" },
    { "spec.volumes[].projected.sources[].serviceAccountToken", IDENTITY },
    { "status", "it is not part of a template" },
};

/* Whether path matches field: "spec.containers[3].env" matches
 * "spec.containers[].env". */
static bool is_like (const char *path, const char *field)
{
    while (*path && *path == *field) {
        path++;
        field++;
        if (path[-1] == '[')
            path += strspn (path, "0123456789");
    }
    return !*path && !*field;
}

const char *podtemplate_reason (const char *path)
{
    for (size_t i = 0; i < ARRAY_SIZE (reasons); i++)
        if (is_like (path, reasons[i].field))
            return reasons[i].why;
    return NULL;
}
