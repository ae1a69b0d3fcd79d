#!/bin/sh
# t4140-queue-pods.t: queues with settings for their pods, on a real cluster. Needs root; about a
# minute.

test_description='the pods of a queue on a real cluster: its nodes, its settings, and the choices of its jobs

A job on nodes outside its queue, a pod without a setting of its queue or its user, or a user who gets a
value that the administrator did not allow would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4140

# queues [POOL]: writes the configuration; the queue big has the nodes with this label.
queues()
{
    write_config "$configs/fluxq.kubeconfig" "place-timeout: 15s" "start-backoff: 1s" && cat >>kube.yaml <<END
queues:
  batch: {default: true}
  big:
    pods: {node-selector: {pool: ${1:-big}}}
  net:
    pods:
      tolerations: [{key: net, operator: Exists}]
      resources: {example.org/hca: 1}
      shm-size: 32Mi
  claim:
    mounts: [{path: /claim, volume: {persistentVolumeClaim: {claimName: late}}}]
    pods: {scheduler: default-scheduler}
  own:
    mounts: [{path: /home, volume: {emptyDir: {}}}]
    pods:
      priority-class: low
      service-account: jobs
      user-entry: false
      allow:
        runtime-class: [plain]
        priority-class: [low, high]
        shm-size: 64Mi
        host-network: true
        volumes:
          data: {volume: {hostPath: {path: $HERE/data, type: Directory}}}
          fixed: {read-only: true, volume: {hostPath: {path: $HERE/data, type: Directory}}}
END
}

nodes_of() # QUEUE
{
    fluxq-info -q "$1" --json | jq -r '[.nodes[].name] | join(" ")'
}

has_nodes() # QUEUE NODES
{
    [ "$(nodes_of "$1")" = "$2" ]
}

# runs_on NODES ARGUMENTS...: a job with these arguments completes on these nodes; its id is in `id`.
runs_on()
{
    wanted=$1
    shift
    id=$(fluxq-submit "$@") && wait_job_state "$id" "COMPLETED|FAILED" 60 &&
        [ "$(job_state "$id") $(job_field "$id" nodelist)" = "COMPLETED $wanted" ]
}

# refused TEXT ARGUMENTS...: fluxq-submit fails with one line that contains TEXT.
refused()
{
    text=$1
    shift
    test_must_fail fluxq-submit "$@" 2>why || return
    cat why
    [ "$(wc -l <why)" = 1 ] && grep -q -e "$text" why
}

pod() # ID FIELD-OF-SPEC: prints the field as JSON
{
    k get pods -l "fluxq.io/job-id=$1" -o json | jq -c ".items[0].spec$2"
}

start_hold() # ARGUMENTS...: submits a job that runs until its cancel; its id is in `id`
{
    id=$(fluxq-submit "$@" -- sleep 300) && wait_job_state "$id" RUNNING 60
}

end() # ID
{
    fluxq-cancel "$1" && wait_until 60 no_pods_of "$1"
}

no_pods_of()
{
    [ -z "$(k get pods -l "fluxq.io/job-id=$1" -o name)" ]
}

mkdir -m 777 data

own_cluster --nodes 3

test_expect_success 'nodes have a label, a taint and a device, and the objects that the pods name exist' '
    k label node node2 pool=big && k taint node node3 net=fast:NoSchedule &&
    k patch node node3 --subresource=status --type=merge \
        -p "{\"status\":{\"capacity\":{\"example.org/hca\":\"2\"},\"allocatable\":{\"example.org/hca\":\"2\"}}}" &&
    k create serviceaccount jobs && k create priorityclass low --value=10 && k create priorityclass high --value=20 &&
    printf "%s\n" "apiVersion: node.k8s.io/v1" "kind: RuntimeClass" "metadata: {name: plain}" "handler: runc" >class.yaml &&
    k apply -f - <class.yaml && queues && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 has_nodes big node2 && wait_until 30 has_nodes net node3
'

test_expect_success 'each queue has its nodes, and fluxq-info shows them' '
    has_nodes batch "node1 node2" && has_nodes claim "node1 node2" && has_nodes own "node1 node2" &&
    fluxq-info --json | jq -e "[.nodes[] | {(.name): .queues}] | add == {node1: [\"batch\", \"claim\", \"own\"],
        node2: [\"batch\", \"big\", \"claim\", \"own\"], node3: [\"net\"]}" &&
    fluxq-info -q big -N | grep node2 && ! fluxq-info -q big -N | grep node1 &&
    test_must_fail fluxq-info -q nowhere 2>why && grep nowhere why
'

test_expect_success 'jobs run on the nodes of their queue' '
    runs_on node2 -q big -- true && runs_on node3 -q net -- true && runs_on "node[1-2]" -N 2 -- true
'

test_expect_success 'a job of more nodes than its queue has is refused, although the cluster has the nodes' '
    refused "queue big: .*needs 2 nodes\|queue big: .*2 nodes" -q big -N 2 -- true &&
    refused "queue batch: " -N 3 -- true && refused "queue net: " -q net -w node1 -- true
'

test_expect_success 'the pods have the settings of their queue' '
    start_hold -q net && pod "$id" .tolerations | grep "\"key\":\"net\"" &&
    [ "$(pod "$id" ".containers[0].resources.limits[\"example.org/hca\"]")" = "\"1\"" ] &&
    [ "$(pod "$id" ".containers[0].resources.requests[\"example.org/hca\"]")" = "\"1\"" ] && end "$id" &&
    start_hold -q own && [ "$(pod "$id" "| [.priorityClassName, .serviceAccountName, .runtimeClassName]")" = \
        "[\"low\",\"jobs\",null]" ] && ! pod "$id" ".containers[0].volumeMounts[].mountPath" | grep /etc/passwd && end "$id"
'

test_expect_success 'a job waits for a node of its queue with this reason, and starts when the node is free, also after a restart' '
    start_hold -w node2 --exclusive -N 1 && first=$id && id=$(fluxq-submit -q big -- true) && other=$(fluxq-submit -- true) &&
    wait_job_state "$other" COMPLETED 60 && [ "$(job_field "$other" nodelist)" = node1 ] &&
    fluxq-show job "$id" && [ "$(job_state "$id")" = PENDING ] && stop_broker && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_job_state "$first" RUNNING 30 && wait_until 30 has_nodes big node2 && [ "$(job_state "$id")" = PENDING ] &&
    fluxq-cancel "$first" && wait_job_state "$id" COMPLETED 60 && [ "$(job_field "$id" nodelist)" = node2 ]
'

test_expect_success 'a change of a label or taint moves the node to other queues' '
    k label node node1 pool=big && wait_until 30 has_nodes big "node1 node2" && runs_on "node[1-2]" -q big -N 2 -- true &&
    k label node node1 pool- && wait_until 30 has_nodes big node2 &&
    k taint node node2 other=:NoSchedule && wait_until 30 has_nodes big "" && refused "queue big: its constraints allow none" -q big -- true &&
    k taint node node2 other- && wait_until 30 has_nodes big node2
'

test_expect_success 'a job can choose from the values that its queue allows' '
    write_script choose.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	df -k /dev/shm | awk "END { print \$2 }"
	echo brought >/data/of-the-job
	cat /again/of-the-job
	echo more >>/again/of-the-job || echo "cannot write"
	sleep 300
	END
    id=$(fluxq-submit -q own --runtime-class plain --priority-class high --shm-size 16M --volume data:/data \
        --volume fixed:/again -o /data/out ./choose.sh) && wait_until 60 has_lines data/out 4 &&
    sed "s/.*Read-only.*/read-only/" data/out >actual && printf "%s\n" 16384 brought read-only "cannot write" >expected &&
    test_cmp expected actual && [ "$(cat data/of-the-job)" = brought ] &&
    [ "$(pod "$id" "| [.priorityClassName, .serviceAccountName, .runtimeClassName]")" = "[\"high\",\"jobs\",\"plain\"]" ] &&
    fluxq-show job "$id" --jobspec | jq -e ".attributes.system.fluxq.pods[\"shm-size\"] == 16777216" && end "$id"
'

test_expect_success 'a value that the queue does not allow is refused at submit, in one line' '
    refused "runtime-class: queue own does not have .kata., but plain" -q own --runtime-class kata -- true &&
    refused "runtime-class: queue batch does not allow" --runtime-class plain -- true &&
    refused "service-account: queue own does not allow" -q own --service-account default -- true &&
    refused "priority-class: queue own does not have .system-node-critical." -q own --priority-class system-node-critical -- true &&
    refused "shm-size: queue own allows at most 64 MiB" -q own --shm-size 1G -- true &&
    refused "volume: queue own does not have .root., but data, fixed" -q own --volume root:/root -- true &&
    refused "volume: path: /home is listed twice" -q own --volume data:/home -- true &&
    refused "volume: path" -q own --volume data:/fluxq/bin -- true &&
    refused "host-network: queue batch does not allow" -N 1 --exclusive --host-network -- true
'

test_expect_success 'host-network needs whole nodes, and with it the agent can be reached and steps run' '
    refused "host-network: .*whole nodes.*--exclusive" -q own --host-network -- true &&
    write_script host.sh <<-\END &&
	#!/bin/sh
	hostname
	fluxq-run echo step
	END
    runs_on node1 -q own -N 1 --exclusive --host-network -o host.out ./host.sh &&
    printf "%s\n" node1 step >expected && test_cmp expected host.out
'

test_expect_success 'a claim that waits for its first consumer is bound on the job'\''s node' '
    cat >claim.yaml <<-END &&
	apiVersion: storage.k8s.io/v1
	kind: StorageClass
	metadata: {name: late}
	provisioner: kubernetes.io/no-provisioner
	volumeBindingMode: WaitForFirstConsumer
	---
	apiVersion: v1
	kind: PersistentVolume
	metadata: {name: late}
	spec:
	  capacity: {storage: 1Gi}
	  accessModes: [ReadWriteOnce]
	  storageClassName: late
	  persistentVolumeReclaimPolicy: Retain
	  local: {path: $HERE/data}
	  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node2]}]}]}}
	---
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: late, namespace: fluxq}
	spec: {accessModes: [ReadWriteOnce], storageClassName: late, resources: {requests: {storage: 1Gi}}}
	END
    k apply -f - <claim.yaml && runs_on node2 -q claim -w node2 -o /claim/first -- sh -c "echo first" &&
    [ "$(cat data/first)" = first ] && [ "$(k get pvc late -o jsonpath="{.status.phase}")" = Bound ] &&
    start_hold -q claim -N 1 -n 2 -w node2 && [ "$(pod "$id" "| [.schedulerName, .nodeName, .schedulingGates]")" = \
        "[\"default-scheduler\",\"node2\",null]" ] && end "$id"
'

test_expect_success 'if a node cannot reach a claim the start is given up with the scheduler'\''s reason, and another node is tried' '
    id=$(fluxq-submit -q claim -- true) && wait_job_state "$id" COMPLETED 120 && fluxq-show job "$id" --events &&
    said "$id" "1 of 1 ranks are not placed after .*: node1; its scheduler: .*nodes are available" &&
    [ "$(count_events "$id" requeue) $(job_field "$id" nodelist)" = "1 node2" ]
'

test_expect_success 'a reload applies other settings and nodes, but not a first node selector' '
    queues small && fluxq-ctl reload && wait_until 10 has_nodes big "" && k label node node1 pool=small &&
    wait_until 30 has_nodes big node1 && runs_on node1 -q big -- true &&
    write_config "$configs/fluxq.kubeconfig" "queues: {batch: {}, big: {}, net: {}, claim: {}, own: {}}" &&
    test_must_fail fluxq-ctl reload 2>why && grep "restart" why && has_nodes big node1
'

test_expect_success 'no object of any job is left' '
    wait_until 60 no_jobs_of_ours && stop_broker && wait_until 60 nothing_of_ours
'

test_done
