#!/bin/sh
# t4310-components-kube.t: heterogeneous jobs on a real cluster. Needs root; about one minute.

test_description='heterogeneous jobs on a real cluster, with both ways of making pods

A component with the resources of another one, a pod that takes the rank of another one, a name that does not
resolve, a half-started job, or an object that is left over would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4310

with()
{
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "grace: 2s" "  pods: $1" &&
        { [ -z "$BROKER_PID" ] || stop_broker; } && again
}

again()
{
    start_broker --kube --config "$HERE/kube.yaml" &&
        wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 3\""
}

# send ARGUMENTS...: submits a job with two components: two nodes with 1 CPU each, and one node with 3 CPUs and
# 64 MiB. Prints the id.
send()
{
    fluxq-submit --dry-run -N 1 -n 1 -c 3 --mem=64M -- true |
        jq '{version, resources, tasks, attributes: {system: {duration: 0, job: {name: "second"}}}}' \
            >second.json &&
        fluxq-submit --dry-run -N 2 -n 2 -c 1 -t 5 "$@" |
        jq --slurpfile c second.json '.attributes.system.fluxq.components = $c' >job.json &&
        curl -s --fail-with-body --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d @job.json http://fluxqd/v1/jobs >answer.json || { cat answer.json && return 1; }
    jq .id answer.json
}

# pods ID: prints "COMPONENT INDEX CPUS MEMORY NODE" of each pod, by rank.
pods()
{
    k get pods -l "fluxq.io/job-id=$1" -o json | jq -r '[.items[] | .metadata.labels as $l | .spec as $s |
        [$l["fluxq.io/component"], $l["batch.kubernetes.io/job-completion-index"],
         $s.containers[0].resources.requests.cpu, $s.containers[0].resources.requests.memory // "-", $s.nodeName]] |
        sort | .[] | join(" ")'
}

rank0()
{
    k get pods -l "fluxq.io/job-id=$1,fluxq.io/component=0,batch.kubernetes.io/job-completion-index=0" -o name
}

jobs_of()
{
    k get jobs -l "fluxq.io/job-id=$1" -o json |
        jq -r '[.items[] | "\(.metadata.name) \(.spec.completions) \(.status.active)"] | sort | .[]'
}

# all_names ID: all names of ranks resolve in each pod.
all_names()
{
    name=fluxq-$CLUSTER_ID-$1-0
    k get pods -l "fluxq.io/job-id=$1" -o name >pods &&
        while read -r pod; do
            for rank in 0 1 2; do
                k exec "$pod" -- nslookup "$name-$rank.$name.fluxq.svc.cluster.local." </dev/null >lookup ||
                    { echo "$pod: rank $rank" && cat lookup && return 1; }
            done
        done <pods
}

clean()
{
    wait_until 60 eval "our_objects >objects && ! grep -e \"-t4310-$1-\" objects"
}

write_script wait.sh <<\END
#!/bin/sh
echo begun
until [ -e /tmp/stop ]; do sleep 0.2; done
echo ended
END

own_cluster --nodes 3

for way in broker controller; do
    test_expect_success "$way: each component has a Job and pods with its own resources" '
        with $way && id=$(send -o wait.out wait.sh) && wait_job_state $id RUNNING 60 &&
        { echo "fluxq-t4310-$id-0 2 2" && echo "fluxq-t4310-$id-0-c1 1 1"; } >expected &&
        wait_until 20 eval "jobs_of $id >jobs && test_cmp expected jobs >diff" &&
        pods $id >got && cat got &&
        { echo "0 0 1 -" && echo "0 1 1 -" && echo "1 0 3 64Mi"; } >expected &&
        cut -d " " -f 1-4 got >amounts && test_cmp expected amounts &&
        [ "$(cut -d " " -f 5 got | sort -u | wc -l)" = 3 ]
    '

    test_expect_success "$way: the names of all ranks resolve in every pod" '
        all_names $id
    '

    test_expect_success "$way: a broker that is killed finds the job again, and nothing is left at its end" '
        k get pods -l fluxq.io/job-id=$id -o name >before && kill_broker && again && wait_job_state $id RUNNING 30 &&
        k get pods -l fluxq.io/job-id=$id -o name >after && test_cmp before after &&
        k exec "$(rank0 $id)" -- touch /tmp/stop &&
        wait_job_state $id COMPLETED 60 && clean $id
    '
done

test_done
