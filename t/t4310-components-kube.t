#!/bin/sh
# t4310-components-kube.t: heterogeneous jobs on a real cluster. Needs root; about one minute.

test_description='heterogeneous jobs on a real cluster, with both ways of making pods

A component with the resources of another one, a pod that takes the rank of another one, a name that does not
resolve, a half-started job, or an object that is left over would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4310

# with PODS [LINE...]: the broker starts with this value of kube.pods, and these lines of the configuration.
with()
{
    pods="  pods: $1"
    shift
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "grace: 2s" "  gres: {hca: example.org/hca}" "$pods" "$@" &&
        { [ -z "$BROKER_PID" ] || stop_broker; } && again
}

again()
{
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 sees_nodes
}

sees_nodes()
{
    fluxq-info --json | jq -e '([.nodes[] | select(.state == "up")] | length == 3) and .nodes[2].gres["example.org/hca"]' >got
}

# about ID: prints "COMPONENT INDEX CPUS MEMORY DEVICES" of each pod, by rank.
about()
{
    k get pods -l "fluxq.io/job-id=$1" -o json | jq -r '[.items[] | .metadata.labels as $l | .spec.containers[0].resources.requests as $r |
        [$l["fluxq.io/component"], $l["batch.kubernetes.io/job-completion-index"], $r.cpu, $r.memory // "-",
         $r["example.org/hca"] // "-"]] | sort | .[] | join(" ")'
}

# jobs_are ID ATTEMPT: there are two Jobs, and all pods run.
jobs_are()
{
    { echo "fluxq-t4310-$1-$2 2 2" && echo "fluxq-t4310-$1-$2-c1 1 1"; } >expected &&
        k get jobs -l "fluxq.io/job-id=$1" -o json |
        jq -r '[.items[] | "\(.metadata.name) \(.spec.completions) \(.status.active)"] | sort | .[]' >got && cmp -s expected got
}

pods_of() # ID
{
    k get pods -l "fluxq.io/job-id=$1" -o name
}

pod_of() # ID COMPONENT INDEX
{
    k get pods -l "fluxq.io/job-id=$1,fluxq.io/component=$2,batch.kubernetes.io/job-completion-index=$3" -o name
}

# names_resolve FILE: the names in the file resolve in all pods of the file pods, to the addresses of these pods.
names_resolve()
{
    while read -r pod; do
        while read -r name; do
            k exec "$pod" -- nslookup "$name." </dev/null >lookup || { echo "$pod: $name" && cat lookup && return 1; }
            sed -n '/^Name:/,$ s/^Address: *//p' lookup
        done <"$1" >addresses
        k get $(cat pods) -o json | jq -r '.items[].status.podIP' | sort >expected && sort addresses | test_cmp expected - || return 1
    done <pods
}

hostnames() # the host names of the pods in the file pods
{
    while read -r pod; do
        k exec "$pod" -- hostname </dev/null || return
    done <pods
}

clean() # ID: nothing of the job is left
{
    wait_until 60 eval "our_objects >objects && ! grep -e \"-t4310-$1-\" objects"
}

write_script het.sh <<\END
#!/bin/sh
#SBATCH -t 5 -N 2 -n 2 -c 1
#SBATCH hetjob
#SBATCH -N 1 -n 1 -c 3 --mem=64M --gres=hca
echo "$SLURM_HET_SIZE components: $SLURM_JOB_NUM_NODES_HET_GROUP_0 and $SLURM_JOB_NUM_NODES_HET_GROUP_1 nodes," \
    "$SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0 and $SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1"
scontrol show hostnames "$SLURM_JOB_NODELIST_HET_GROUP_0"
scontrol show hostnames "$SLURM_JOB_NODELIST_HET_GROUP_1"
until [ -e /tmp/stop ]; do sleep 0.2; done
srun --het-group=0,1 sh -c 'echo "task $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME"' | sort
echo ended
END

own_cluster --nodes 3

test_expect_success 'a node has devices' '
    amounts="{\"example.org/hca\": \"2\"}" &&
    k patch node node3 --subresource=status --type=merge -p "{\"status\": {\"capacity\": $amounts, \"allocatable\": $amounts}}"
'

for way in broker controller; do
    test_expect_success "$way: each component has a Job, and pods with its own resources" '
        with $way && id=$(sbatch --parsable -o out.$way het.sh) && wait_job_state $id RUNNING 60 && wait_until 20 jobs_are $id 0 &&
        { echo "0 0 1 - -" && echo "0 1 1 - -" && echo "1 0 3 64Mi 1"; } >expected && about $id >got && test_cmp expected got
    '

    test_expect_success "$way: the script has the variables of all components, and each name resolves in each pod" '
        wait_until 20 has_lines out.$way 4 && head -n 1 out.$way >got &&
        echo "2 components: 2 and 1 nodes, 1(x2) and 3" >expected && test_cmp expected got &&
        sed 1d out.$way >names && pods_of $id >pods && names_resolve names &&
        { [ $way = controller ] || { hostnames >got && test_cmp names got; }; }
    '

    test_expect_success "$way: a broker that is killed finds all of the job again, and nothing is left at its end" '
        kill_broker && again && wait_job_state $id RUNNING 30 && pods_of $id >got && test_cmp pods got &&
        k exec "$(pod_of $id 0 0)" -- touch /tmp/stop && wait_job_state $id COMPLETED 60 && clean $id &&
        tail -n 1 out.$way | grep ended
    '

    test_expect_success "$way: a step over both components has a task on each node" '
        grep "^task" out.$way >got && awk "{ print \"task\", NR - 1, \"of 3 on\", \$1 }" names >expected && test_cmp expected got
    '

    test_expect_success "$way: the loss of a pod of a component is the loss of the job" '
        id=$(sbatch --parsable --no-requeue -o out het.sh) && wait_job_state $id RUNNING 60 &&
        k delete "$(pod_of $id 1 0)" --wait=false && wait_job_state $id NODE_FAIL 60 && said $id "pod of rank 2" && clean $id
    '

    test_expect_success "$way: the deletion of the Job of a component cancels the job" '
        id=$(sbatch --parsable --no-requeue -o out het.sh) && wait_job_state $id RUNNING 60 &&
        k delete job fluxq-t4310-$id-0-c1 --wait=false && wait_job_state $id CANCELLED 60 &&
        said $id "its Job fluxq-t4310-$id-0-c1 was deleted" && clean $id
    '
done

test_expect_success 'a broker that is killed during the start starts the job once' '
    id=$(sbatch --parsable -o out het.sh) && kill_broker && again && wait_job_state $id RUNNING 60 &&
    wait_until 20 jobs_are $id 0 && pods_of $id >pods && [ "$(wc -l <pods)" = 3 ] && [ "$(count_events $id start)" = 1 ] &&
    fluxq-cancel $id && clean $id
'

test_expect_success 'a job whose second Job is refused does not start, and leaves nothing' '
    k create quota one --hard=count/jobs.batch=1 && id=$(sbatch --parsable -o out het.sh) &&
    wait_until 30 said $id "exceeded quota: one" && [ "$(count_events $id start)" = 0 ] && k delete quota one &&
    wait_job_state $id RUNNING 60 && our_objects >objects && ! grep -e "-$id-0" objects
'

write_script prolog <<\END
#!/bin/sh
echo "rank $FLUXQ_NODEID of $FLUXQ_NNODES" >&2
END

test_expect_success 'the prolog on a node knows the rank of the node' '
    fluxq-cancel $id && clean $id && with broker "prolog: $HERE/prolog" && id=$(sbatch --parsable -o out het.sh) &&
    wait_job_state $id RUNNING 60 && for pod in "0 0" "0 1" "1 0"; do k logs "$(pod_of $id $pod)" -c prolog || return 1; done >got &&
    printf "rank %s of 3\n" 0 1 2 >expected && test_cmp expected got
'

test_expect_success 'the sweep removes the Jobs of all components of a job that the broker does not know' '
    kill_broker && job=$(k get jobs -o name | grep -v -e -c1) && k delete "$job" --cascade=orphan --wait=false && rm -r "$BROKER_STATE" &&
    again && wait_until 60 no_jobs_of_ours
'

test_done
