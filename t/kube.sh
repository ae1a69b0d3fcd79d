# shellcheck shell=sh
# kube.sh: what the tests of the Kubernetes executor share, after lib.sh. Needs root.
#
#     k ARGUMENTS...            kubectl as the cluster's administrator, in the namespace fluxq
#     our_objects               names of all objects of this test's broker, pods too
#     no_jobs_of_ours           none of them is left but the agent's ConfigMap
#     nothing_of_ours           not even that, in any namespace
#     write_config KUBECONFIG [LINE...]   kube.yaml; each LINE replaces the key of that name or is
#                               added; keys of the mapping kube are indented by two spaces
#     has_lines FILE N          the file has N lines or more
#     counts_up FILE N          it has the lines 0, 1, ..., N-1: none is missing and none twice
#     said ID TEXT              the job's events have it (a basic regular expression)
#     agent_pids ID RANK        pids of that rank's agent, one line each
#
# Variables: KUBE, HERE; CLUSTER_ID is to be set by the test.

KUBE=$FLUXQ_SOURCE_DIR/t/kube
HERE=$PWD
chmod 711 "$FLUXQ_RUN"

k()
{
    timeout 60 "$KUBE/enter" kubectl -n fluxq "$@"
}

our_objects()
{
    k get jobs,pods,configmaps,secrets,services -l "fluxq.io/cluster=$CLUSTER_ID" "$@" -o name
}

no_jobs_of_ours()
{
    our_objects >objects && ! grep -qv fluxq-agent- objects
}

nothing_of_ours()
{
    our_objects -A >objects && ! [ -s objects ]
}

write_config()
{
    cat >kube.yaml <<END
cluster-id: $CLUSTER_ID
start-timeout: 60s
kube:
  kubeconfig: $1
  namespace: fluxq
  image: busybox:1
  allow-root: true
  grace: 5s
END
    shift
    for lib_line; do
        case $lib_line in
        '  '*)
            sed -i "/^${lib_line%%:*}:/d" kube.yaml
            echo "$lib_line" >>kube.yaml
            ;;
        *)
            sed -i "/^${lib_line%%:*}:/d" kube.yaml
            sed -i "1i $lib_line" kube.yaml
            ;;
        esac
    done
}

has_lines()
{
    [ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ]
}

counts_up()
{
    awk '$1 != NR - 1 { exit 1 } END { exit NR != '"$2"' }' "$1"
}

said()
{
    fluxq-show job "$1" --events >events && grep -q -e "$2" events
}

agent_pids()
{
    for lib_pid in $(pgrep -f "fluxq-shell --launch /fluxq/job/launch .*--rank $2\$"); do
        { tr '\0' '\n' <"/proc/$lib_pid/environ"; } 2>/dev/null | grep -q "^HOSTNAME=fluxq-$CLUSTER_ID-$1-[0-9]*-$2" &&
            echo "$lib_pid"
    done
}
