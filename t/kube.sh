# shellcheck shell=sh
# kube.sh: shared functions of the tests of the Kubernetes executor, after lib.sh. Needs root.
#
#     own_cluster [ARGUMENTS...]   starts a cluster for this suite only, with these arguments of t/kube/up;
#                               the cluster ends with the suite in any case. This is the first case of the
#                               suite; if it fails there are no other cases
#     k ARGUMENTS...            kubectl as the cluster's administrator, in the namespace fluxq
#     our_objects               names of all objects of this test's broker, with pods
#     no_jobs_of_ours           no such object is left except the agent's ConfigMap
#     nothing_of_ours           no such object is left in any namespace
#     write_config KUBECONFIG [LINE...]   writes kube.yaml; each LINE replaces the key of that name or
#                               is added; keys of the mapping kube have an indent of two spaces. kube.pods
#                               is FLUXQ_TEST_PODS (broker, controller) if the environment has this variable
#     has_lines FILE N          the file has N lines or more
#     counts_up FILE N          the file has the lines 0, 1, ..., N-1, each exactly once
#     said ID TEXT              the job's events contain TEXT (a basic regular expression)
#     on_our_nodes PATTERN      pids of the processes on this cluster's nodes with a matching command line
#     agent_pids ID RANK        pids of that rank's agent, one line each
#     kill_agent ID RANK        SIGKILL to all of them; one may already end with another
#
# Variables: KUBE, HERE; configs, the directory of the kubeconfigs, after own_cluster; the test sets
# CLUSTER_ID.

KUBE=$FLUXQ_SOURCE_DIR/t/kube
HERE=$PWD
chmod 711 "$FLUXQ_RUN"

# Clusters can run side by side, so suites can, too. The name contains the suite's pid, by which
# t/kube/down --orphans finds clusters of killed suites.
own_cluster()
{
    FLUXQ_KUBE_NAME=fluxqt$$ FLUXQ_KUBE_RUN=/tmp/fluxqt$$-kube
    export FLUXQ_KUBE_NAME FLUXQ_KUBE_RUN
    lib_shape=$*
    trap cluster_finish EXIT
    test_expect_success 'the cluster is up' '
        timeout 300 "$KUBE/up" $lib_shape && configs=$(dirname "$("$KUBE/enter" printenv KUBECONFIG)")
    '
    [ -n "${configs:-}" ] || test_done
}

# Removes everything in the cluster, and the broker. An object that cannot be removed is an error of
# the suite.
cluster_finish()
{
    status=$?
    trap - EXIT
    trap '' INT TERM HUP
    timeout 60 "$KUBE/down" >"$FLUXQ_RUN/down.log" 2>&1 || { status=1 && cat "$FLUXQ_RUN/down.log" >&2; }
    (exit $status)
    lib_finish
}

k()
{
    timeout 60 "$KUBE/enter" kubectl -n fluxq "$@"
}

our_objects()
{
    k get jobs,pods,configmaps,secrets,services,endpointslices -l "fluxq.io/cluster=$CLUSTER_ID" "$@" -o name
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
  grace: 5s${FLUXQ_TEST_PODS:+
  pods: $FLUXQ_TEST_PODS}
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

on_our_nodes()
{
    for lib_pid in $(pgrep -f -- "$1"); do
        ! grep -qs "/${FLUXQ_KUBE_NAME:-fluxq}-node" "/proc/$lib_pid/cgroup" || echo "$lib_pid"
    done
}

agent_pids()
{
    for lib_pid in $(on_our_nodes "fluxq-shell --launch /fluxq/job/launch .*--rank $2\$"); do
        { tr '\0' '\n' <"/proc/$lib_pid/environ"; } 2>/dev/null | grep -q "^HOSTNAME=\(n$2[.]\)*fluxq-$CLUSTER_ID-$1-[0-9]*\(-$2\)*\([.].*\)*\$" &&
            echo "$lib_pid"
    done
}

kill_agent()
{
    lib_pids=$(agent_pids "$1" "$2")
    [ -n "$lib_pids" ] && { kill -9 $lib_pids 2>/dev/null || :; }
}
