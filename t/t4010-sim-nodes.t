#!/bin/sh
# t4010-sim-nodes.t: simulated nodes of the test cluster. Needs root; about half a minute.

test_description='simulated nodes beside a real one (t/kube/up --kwok): pods on them start and end as requested

A simulated pod that never becomes Ready, that keeps its Job from ending, or whose agent a server
on the loopback cannot replace would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4010

# pod NAME LINE...: prints a pod for simulated nodes; each LINE is a line of its spec.
pod()
{
    name=$1
    shift
    cat <<END
apiVersion: v1
kind: Pod
metadata: {name: $name, annotations: {$annotations}}
spec:
  restartPolicy: Never
  tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]
  containers: [{name: c, image: "nowhere:1", resources: {requests: {cpu: 2}}}]
$(printf '  %s\n' "$@")
END
}
annotations=

field()
{
    k get "$1" -o "jsonpath={$2}"
}

is()
{
    [ "$(field "$1" "$2")" = "$3" ]
}

# set_ready NODE STATUS: sets the node's condition Ready.
set_ready()
{
    k patch node "$1" --subresource=status \
        -p "{\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"$2\", \"reason\": \"Test\"}]}}"
}
ready='.status.conditions[?(@.type=="Ready")].status'

own_cluster --kwok --nodes 20 --sim-cpus 6 --sim-mem 12 --scheduler-arg --kube-api-qps=500

test_expect_success '20 simulated nodes and one real node are Ready' '
    "$KUBE/status" >status && grep "1 nodes of 4 CPUs and 8 GiB, 20 simulated ones of 6 and 12" status &&
    grep -E "^kwok +runs" status && grep "20 simulated nodes are Ready" status &&
    k get nodes -o name >names && [ "$(wc -l <names)" = 21 ] && grep -qx node/node1 names
'

test_expect_success 'simulated nodes have sizes, racks of 10, a zone, a taint and addresses of their own' '
    k get nodes -l type=kwok -o "jsonpath={range .items[*]}{.metadata.name} {.status.allocatable.cpu} {.status.allocatable.memory} {.status.allocatable.pods} {.metadata.labels.topology\.kubernetes\.io/rack} {.metadata.labels.topology\.kubernetes\.io/zone} {.spec.taints[*].key}{\"\n\"}{end}" >nodes &&
    for i in $(seq 0 19); do
        printf "sim-%03d 6 12Gi 110 sim-r%d sim-z0 kwok.x-k8s.io/node\n" $i $((i / 10))
    done >expected && test_cmp expected nodes &&
    k get nodes -o "jsonpath={.items[*].status.addresses[?(@.type==\"InternalIP\")].address}" | tr " " "\n" |
        sort -u >addresses && [ "$(grep -c . addresses)" = 21 ]
'

test_expect_success 'the scheduler has the additional argument' '
    pid=$(cat "$FLUXQ_KUBE_RUN/pid/scheduler") && tr "\0" "\n" <"/proc/$pid/cmdline" | grep qps | tail -n 1 >last &&
    [ "$(cat last)" = --kube-api-qps=500 ]
'

test_expect_success 'a pod that is bound to a simulated node is Ready, with an address of its own' '
    pod bound "schedulerName: nobody" | k create -f - &&
    echo "{\"apiVersion\": \"v1\", \"kind\": \"Binding\", \"metadata\": {\"name\": \"bound\"},
        \"target\": {\"apiVersion\": \"v1\", \"kind\": \"Node\", \"name\": \"sim-007\"}}" >binding &&
    k create --raw /api/v1/namespaces/fluxq/pods/bound/binding -f binding &&
    k wait --for=condition=Ready --timeout=50s pod/bound && is pod/bound .status.phase Running &&
    ip=$(field pod/bound .status.podIP) && case $ip in 10.12[89].* | 10.13?.* | 10.14[0-3].*) ;; *) false ;; esac
'

test_expect_success 'a server on the loopback answers for the pod, also through the pod proxy' '
    mkdir www && echo "in its place" >www/index.html &&
    { "$KUBE/enter" busybox httpd -f -p 7717 -h "$HERE/www" & } && server=$! &&
    wait_until 10 "$KUBE/enter" curl -sf --noproxy "*" -o page "http://$ip:7717/index.html" &&
    grep "in its place" page &&
    k get --raw /api/v1/namespaces/fluxq/pods/bound:7717/proxy/index.html | grep "in its place"
    status=$?
    kill $server
    return $status
'

test_expect_success 'the pod ends when its status is patched' '
    k patch pod bound --subresource=status -p "{\"status\": {\"phase\": \"Succeeded\"}}" &&
    is pod/bound .status.phase Succeeded && k delete pod bound --timeout=50s
'

test_expect_success 'a pod with the duration annotation ends by itself, and not before' '
    annotations="fluxq.io/sim-duration: 3s" && pod timed "nodeName: sim-000" | k create -f - && annotations= &&
    k wait --for=jsonpath={.status.phase}=Succeeded --timeout=50s pod/timed &&
    terminated=.status.containerStatuses[0].state.terminated && is pod/timed $terminated.exitCode 0 &&
    start=$(date -d "$(field pod/timed $terminated.startedAt)" +%s) &&
    end=$(date -d "$(field pod/timed $terminated.finishedAt)" +%s) &&
    [ $((end - start)) -ge 2 ] # times are in whole seconds
'

running()
{
    [ "$(k get pods --field-selector status.phase=Running -o name | wc -l)" = "$1" ]
}

test_expect_success 'the scheduler fills simulated nodes by their size, and a deleted pod frees its resources' '
    for i in 1 2 3 4; do
        pod full$i "nodeSelector: {kubernetes.io/hostname: sim-001}" && echo --- || return 1
    done | k create -f - &&
    wait_until 60 running 3 && late=$(k get pods --field-selector status.phase=Pending -o name) &&
    first=$(k get pods --field-selector status.phase=Running -o name | head -n 1) &&
    [ "$(echo "$late" | wc -l)" = 1 ] && k delete "$first" --timeout=50s && test_must_fail k get "$first" &&
    k wait --for=condition=Ready --timeout=50s "$late"
'

# With podReplacementPolicy Failed the Job would wait forever for a pod that only vanished.
test_expect_success 'a Job sees that its deleted pod has failed' '
    k create -f - <<-END &&
	apiVersion: batch/v1
	kind: Job
	metadata: {name: gang}
	spec:
	  completions: 3
	  parallelism: 3
	  completionMode: Indexed
	  backoffLimit: 0
	  podReplacementPolicy: Failed
	  template:
	    spec:
	      restartPolicy: Never
	      tolerations: [{operator: Exists}]
	      nodeSelector: {type: kwok}
	      containers: [{name: c, image: "nowhere:1"}]
	END
    wait_until 60 is job/gang .status.ready 3 &&
    pod=$(k get pods -l job-name=gang -o name | head -n 1) && k delete "$pod" --wait=false &&
    k wait --for=condition=Failed --timeout=50s job/gang && k delete job gang --cascade=foreground --timeout=60s &&
    [ -z "$(k get pods -l job-name=gang -o name)" ]
'

test_expect_success 'a node that is set to not ready stays not ready, and a node of unknown state becomes Ready' '
    set_ready sim-002 False && set_ready sim-003 Unknown &&
    wait_until 60 eval "field node/sim-002 .spec.taints[*].key | grep -q not-ready" &&
    wait_until 60 is node/sim-003 "$ready" True && is node/sim-002 "$ready" False &&
    test_expect_code 1 "$KUBE/status" && set_ready sim-002 True && "$KUBE/status"
'

test_expect_success 'the real node runs real pods' '
    k create -f - <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {name: real}
	spec:
	  restartPolicy: Never
	  containers: [{name: c, image: "busybox:1", command: [sh, -c, "echo really"]}]
	END
    k wait --for=jsonpath={.status.phase}=Succeeded --timeout=50s pod/real &&
    is pod/real .spec.nodeName node1 && [ "$(k logs real)" = really ]
'

seen_nodes()
{
    [ "$(fluxq-info --json | jq "[.nodes[] | select(.state == \"up\")] | length")" = "$1" ]
}

test_expect_success 'fluxqd uses simulated nodes only if it tolerates their taint' '
    k delete pods --all --timeout=50s &&
    write_config "$configs/fluxq.kubeconfig" && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 60 seen_nodes 1 && stop_broker &&
    write_config "$configs/fluxq.kubeconfig" \
        "  tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]" &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 60 seen_nodes 21 &&
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"sim-019\") | .cores == 6" && stop_broker
'

test_expect_success 'a second up changes nothing, and other simulated nodes or wrong options are refused' '
    "$KUBE/up" --kwok --nodes 20 2>output && grep "up already" output &&
    test_expect_code 1 "$KUBE/up" --kwok --nodes 21 && test_expect_code 1 "$KUBE/up" --kwok --nodes 20 --sim-mem 9 &&
    test_expect_code 1 "$KUBE/up" --nodes 1 &&
    for wrong in "--real 2" "--kwok --nodes 10001" "--kwok --real 51" "--kwok --sim-cpus 0" "--sim-mem 4"; do
        test_expect_code 2 "$KUBE/up" $wrong 2>error && grep "t/kube/up: --" error || return 1
    done
'

test_expect_success 'kwok can be stopped, status reports this, and kwok can be started again' '
    "$KUBE/daemon" stop kwok && test_expect_code 1 "$KUBE/status" >status &&
    grep -E "^kwok +stopped" status &&
    "$KUBE/daemon" start kwok && "$KUBE/status" >status && grep -E "^kwok +runs" status
'

test_expect_success 'down leaves nothing' '
    cat "$FLUXQ_KUBE_RUN"/pid/* >pids && "$KUBE/down" && ! [ -e "$FLUXQ_KUBE_RUN" ] &&
    ! [ -e "/run/fluxq-kube/$FLUXQ_KUBE_NAME-kube" ] &&
    for pid in $(cat pids); do ! grep -qs "$FLUXQ_KUBE_NAME" "/proc/$pid/cmdline" || return 1; done
'

test_done
