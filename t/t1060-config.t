#!/bin/sh
test_description='fluxq.yaml: wrong values are refused with their place; reload, queues and their limits'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

# wrong LINE:COLUMN TEXT <<END: --check refuses the file with one line that has this place and TEXT.
wrong()
{
    cat >wrong.yaml
    test_expect_code 1 fluxqd --check --config wrong.yaml >out 2>why || return
    cat why
    test ! -s out && test "$(wc -l <why)" = 1 && grep -q "wrong.yaml:$1: .*$2" why
}

# wrong_value LINE:COLUMN TEXT LINE...: like wrong, with the lines of the file as arguments.
wrong_value()
{
    place=$1 text=$2
    shift 2
    printf '%s\n' "$@" | wrong "$place" "$text"
}

test_expect_success '--check accepts a valid file and starts nothing' '
    cat >good.yaml <<-\END &&
	# all keys but those of Kubernetes
	executor: local
	state-dir: /nowhere/state
	runtime-dir: /nowhere/run
	cluster-id: lab-1
	listen: 127.0.0.1:7718
	tls: off
	listen-names: [login1.example, "[fe80::1]:7718", proxy:80]
	munge-socket: /nowhere/munge
	operators: [root]
	log-level: debug
	match-policy: spread
	start-backoff: 1m
	start-backoff-max: 1h
	start-retries: 3
	grace: 10s
	keep-finished: 100
	queues:
	  batch: {default: true, default-time: 1h, max-time: 1d, max-nodes: 4, priority: 10}
	  debug:
	    max-time: 600
	    started: false
	local:
	  nodes: 2
	  cores: 4
	  memory: 2Gi
	  gpus: 1
	END
    fluxqd --check --config good.yaml >out && grep good.yaml out && test ! -e /nowhere
'
test_expect_success 'an empty file is valid and gives the defaults' '
    : >empty.yaml && fluxqd --check --config empty.yaml
'
test_expect_success 'a missing file, and a file that is not a YAML mapping, are refused' '
    test_expect_code 1 fluxqd --check --config missing.yaml 2>why && grep "missing.yaml" why &&
    wrong_value 2:1 "" "executor: local" "	tab: here" &&
    wrong_value 1:1 "mapping" "- a" "- list" &&
    wrong_value 2:1 "twice\|duplicate\|more than once" "grace: 1s" "grace: 2s"
'
test_expect_success 'unknown keys are refused with their place, on each level' '
    wrong_value 2:1 "colour" "grace: 1s" "colour: red" &&
    wrong_value 3:5 "max-tmie" "queues:" "  batch:" "    max-tmie: 5" &&
    wrong_value 2:3 "nodez" "local:" "  nodez: 3"
'
test_expect_success 'wrong values of every kind are refused with their place' '
    wrong_value 1:1 "grace" "grace: soon" &&
    wrong_value 1:1 "grace" "grace: -5" &&
    wrong_value 1:1 "grace" "grace: [1, 2]" &&
    wrong_value 1:1 "start-retries" "start-retries: -1" &&
    wrong_value 1:1 "start-retries" "start-retries: 1.5" &&
    wrong_value 1:16 "beyond" "keep-finished: 99999999999999999999" &&
    wrong_value 1:1 "log-level" "log-level: loud" &&
    wrong_value 1:1 "lonode" "match-policy: lowest" &&
    wrong_value 1:1 "listen" "listen: 7718" &&
    wrong_value 1:1 "listen" "listen: localhost:70000" &&
    wrong_value 1:1 "listen-names: .*list" "listen-names: login1" "listen: a:1" &&
    wrong_value 1:1 "listen-names: .a/b. is not HOST" "listen-names: [a/b]" "listen: a:1" &&
    wrong_value 1:1 "listen-names: .a:0. is not HOST" "listen-names: [a:0]" "listen: a:1" &&
    wrong_value 1:1 "listen-names" "listen-names: [a]" &&
    wrong_value 1:1 "listen: needs tls-certificate and tls-key; or .tls: off." "listen: localhost:7718" &&
    wrong_value 1:1 "tls: expected off" "tls: on" &&
    wrong_value 1:1 "tls-certificate and tls-key need each other" "tls-key: /a" &&
    wrong_value 1:1 "tls-client-ca needs tls-certificate" "tls-client-ca: /a" &&
    wrong_value 1:1 "contradicts" "tls-certificate: /a" "tls-key: /a" "tls: off" &&
    wrong_value 1:1 "operators" "operators: root" &&
    wrong_value 1:1 "cluster-id" "cluster-id: Not_A_Label" &&
    wrong_value 1:1 "state-dir" "state-dir: {a: b}" &&
    wrong_value 1:1 "queues" "queues: 5" &&
    wrong_value 3:5 "default" "queues:" "  batch:" "    default: maybe" &&
    wrong_value 3:5 "max-nodes" "queues:" "  batch:" "    max-nodes: 0" &&
    wrong_value 3:5 "priority" "queues:" "  batch:" "    priority: 5000" &&
    wrong_value 2:3 "nodes" "local:" "  nodes: 0" &&
    wrong_value 2:3 "cores" "local:" "  cores: many" &&
    wrong_value 2:3 "memory" "local:" "  memory: lots"
'
test_expect_success 'wrong pod settings are refused, for one queue and for all queues' '
    wrong_value 3:5 "pods: expected a mapping" "queues:" "  gpu:" "    pods: 5" &&
    wrong_value 4:7 "queue gpu: pods.runtimeclass: unknown key" "queues:" "  gpu:" "    pods:" "      runtimeclass: a" &&
    wrong_value 4:7 "tolerations: entry 1: operator" "queues:" "  gpu:" "    pods:" "      tolerations: [{key: a, operator: In}]" &&
    wrong_value 5:9 "pods.node-selector.pool: expected a text" "queues:" "  gpu:" "    pods:" "      node-selector:" \
        "        pool: 5" &&
    wrong_value 5:9 "pods.allow.image: unknown key" "queues:" "  gpu:" "    pods:" "      allow:" "        image: [a]" &&
    wrong_value 5:9 "pods.allow.shm-size: expected an amount" "queues:" "  gpu:" "    pods:" "      allow:" \
        "        shm-size: some" &&
    wrong_value 6:11 "volumes.data: volume: expected one" "queues:" "  gpu:" "    pods:" "      allow:" "        volumes:" \
        "          data: {volume: {}}" &&
    wrong_value 3:3 "kube.shm-size: expected an amount" "executor: kube" "kube:" "  shm-size: 0" &&
    printf "%s\n" "queues:" "  gpu: {pods: {node-selector: {pool: gpu}, allow: {runtime-class: [a], volumes: {" \
        "    d: {volume: {persistentVolumeClaim: {claimName: d}}}}}}}" "kube: {shm-size: 1Gi, tolerations: [{operator: Exists}]}" \
        >pods.yaml && fluxqd --check --config pods.yaml
'
test_expect_success 'contradictory settings are refused with their place' '
    wrong_value "[0-9]*:[0-9]*" "default" "queues:" "  a: {default: true}" "  b: {default: true}" &&
    wrong_value "[0-9]*:[0-9]*" "max-time" "queues:" "  a: {default-time: 2h, max-time: 1h}" &&
    wrong_value "[0-9]*:[0-9]*" "start-backoff" "start-backoff: 2h" "start-backoff-max: 1h" &&
    echo "executor: cloud" >wrong.yaml && test_expect_code 1 fluxqd --check --config wrong.yaml 2>why && grep cloud why &&
    echo "operators: [no-such-user]" >wrong.yaml &&
    test_expect_code 1 fluxqd --config wrong.yaml --local 1 --state-dir s --runtime-dir "$FLUXQ_RUN/r" 2>why && grep no-such-user why
'
test_expect_success 'wrong options exit with 2 and name the option' '
    test_expect_code 2 fluxqd --local 0 2>why && grep -e --local why &&
    test_expect_code 2 fluxqd --local 1 --kube 2>why &&
    test_expect_code 2 fluxqd --no-such 2>why && test_expect_code 2 fluxqd word 2>why &&
    test_expect_code 2 fluxqd --log-level loud 2>why
'
cat >live.yaml <<END
local: {nodes: 4}
queues:
  batch: {default: true, default-time: 30m}
  debug: {max-time: 60, max-nodes: 2, priority: 100}
END
start_broker --config live.yaml
test_expect_success 'a queue limits time and nodes, and a refused submit shows the limit' '
    test_must_fail fluxq-submit -q debug -t 5 -- true 2>why && grep "debug.*1:00" why &&
    test_must_fail fluxq-submit -q debug -N 3 -t 1 -- true 2>why && grep "debug.*2 nodes" why &&
    test_must_fail fluxq-submit -q nowhere -- true 2>why && grep "nowhere.*batch, debug" why &&
    id=$(fluxq-submit --hold -q debug -t 1 -N 2 -- true) && fluxq-cancel $id &&
    id=$(fluxq-submit --hold -q debug -- true) && test "$(job_field $id time_limit)" = 60 && fluxq-cancel $id &&
    id=$(fluxq-submit --hold -- true) && test "$(job_field $id time_limit)" = 1800 && fluxq-cancel $id
'
test_expect_success 'a wrong namespace setting of a queue, or of objects for the namespace, is refused' '
    wrong_value 4:7 "queue gpu: pods.namespace: a text that ends in .-. must precede .%u." "queues:" "  gpu:" "    pods:" \
        "      namespace: \"%u\"" &&
    wrong_value 4:7 "pods.namespace: namespaces .kube-" "queues:" "  gpu:" "    pods:" "      namespace: kube-%u" &&
    wrong_value 4:7 "pods.namespace: %a: fluxq has no accounts" "queues:" "  gpu:" "    pods:" "      namespace: jobs-%a" &&
    wrong_value 4:7 "pods.namespace: .Jobs. is not the name of a namespace" "queues:" "  gpu:" "    pods:" "      namespace: Jobs" &&
    wrong_value 4:7 "pods.namespace-labels: fluxq.io/uid: is set by fluxq" "queues:" "  gpu:" "    pods:" \
        "      namespace-labels: {fluxq.io/uid: \"0\"}" &&
    wrong_value 4:7 "pods.quota: expected the spec of a ResourceQuota" "queues:" "  gpu:" "    pods:" "      quota: {pods: 3}" &&
    wrong_value 4:7 "pods.network-policy: expected true, false or a list" "queues:" "  gpu:" "    pods:" "      network-policy: none" &&
    wrong_value 5:9 "pods.allow.pod-template: entry 1 is not one of metadata.labels" "queues:" "  gpu:" "    pods:" "      allow:" \
        "        pod-template: [spec.hostPID]" &&
    wrong_value 3:3 "kube.namespace-create: expected true or false" "executor: kube" "kube:" "  namespace-create: 1" &&
    printf "%s\n" "queues:" "  gpu: {pods: {namespace: jobs-%u, namespace-create: true, quota: {hard: {pods: 3}}, network-policy: false}}" \
        "executor: kube" "kube: {namespace: fluxq, namespace-role: fluxq-runner, limits: [{type: Pod, max: {cpu: 4}}]}" >spaces.yaml &&
    fluxqd --check --config spaces.yaml
'

test_expect_success 'pod options are refused if jobs are not pods' '
    echo "metadata: {labels: {example.org/a: b}}" >pod.yaml &&
    for option in --runtime-class=a --priority-class=a --service-account=a --volume=a:/a --shm-size=1G --pod-template=pod.yaml --host-network; do
        test_must_fail fluxq-submit $option -- true 2>why && grep -e "${option%%=*}: this broker runs jobs as processes" why || return 1
    done &&
    test_must_fail fluxq-submit --volume=a -- true 2>why && grep "volume: expected NAME:PATH" why &&
    id=$(FLUXQ_HOST_NETWORK=no fluxq-submit --hold -- true) && fluxq-cancel $id
'
test_expect_success 'a pod template is refused for its first forbidden field, before anything is submitted' '
    refused_template()
    {
        echo "$1" >bad.yaml && test_must_fail fluxq-submit --pod-template bad.yaml -- true 2>why && cat why &&
            head -n 1 why | grep -e "^fluxq-submit: .*$2"
    }
    refused_template "spec: {nodeName: n1}" "spec.nodeName: fluxq chooses the nodes; say --constraint" &&
    refused_template "spec: {containers: [{name: job, resources: {}}]}" "spec.containers\[0\].resources: say -c, --mem" &&
    refused_template "spec: {volumes: [{name: a, hostPath: {path: /}}]}" "spec.volumes\[0\].hostPath: .*--volume" &&
    refused_template "spec: [" "bad.yaml:" && test_must_fail fluxq-submit --pod-template none.yaml -- true 2>why && grep "none.yaml: No such file" why
'
test_expect_success 'a stopped queue starts no job and shows the reason, a started queue starts jobs, and other queues go on' '
    fluxq-ctl queue stop debug &&
    id=$(fluxq-submit -q debug -- true) && other=$(fluxq-submit -- true) &&
    wait_job_state $other COMPLETED && test "$(job_state $id)" = PENDING &&
    job_field $id reason_text >why && grep -i "queue.*stopped\|stopped" why &&
    fluxq-ctl queue start debug && wait_job_state $id COMPLETED
'
test_expect_success 'after a reload another match-policy applies to the next job' '
    cp live.yaml kept.yaml &&
    echo "match-policy: hinode" >>live.yaml && fluxq-ctl reload >out && grep match-policy out && wait_until 20 nodes_free &&
    id=$(fluxq-submit -N 1 -- true) && wait_job_state $id COMPLETED && test "$(job_field $id nodelist)" = node3 &&
    mv kept.yaml live.yaml && fluxq-ctl reload && wait_until 20 nodes_free &&
    id=$(fluxq-submit -N 1 -- true) && wait_job_state $id COMPLETED && test "$(job_field $id nodelist)" = node0
'
test_expect_success 'after a reload changed queues and limits apply at once, and running jobs go on' '
    runs=$(fluxq-submit -o /dev/null -- sleep 97571) && wait_job_state $runs RUNNING &&
    sed -i "s/max-time: 60/max-time: 120/; s/max-nodes: 2/max-nodes: 3/" live.yaml &&
    echo "  extra: {}" >>live.yaml &&
    fluxq-ctl reload &&
    id=$(fluxq-submit --hold -q debug -t 2 -N 3 -- true) && fluxq-cancel $id &&
    id=$(fluxq-submit -q extra -- true) && wait_job_state $id COMPLETED &&
    test "$(job_state $runs)" = RUNNING
'
test_expect_success 'SIGHUP reloads the configuration' '
    sed -i "s/max-nodes: 3/max-nodes: 4/" live.yaml &&
    kill -HUP $BROKER_PID &&
    wait_until 10 sh -c "fluxq-submit --hold -J four -q debug -t 1 -N 4 -- true" && fluxq-cancel -n four
'
test_expect_success 'reload refuses a wrong file with its place, and the old settings stay' '
    cp live.yaml kept.yaml && echo "  extra2: {max-nodes: no}" >>live.yaml &&
    test_must_fail fluxq-ctl reload 2>why && grep "live.yaml:6:" why &&
    test_must_fail fluxq-submit -q extra2 -- true &&
    cp kept.yaml live.yaml && fluxq-ctl reload
'
test_expect_success 'reload refuses a setting that needs a restart, and names the setting' '
    for line in "executor: kube" "cluster-id: other" "listen: 127.0.0.1:7719"; do
        cp kept.yaml live.yaml && echo "tls: off" >>live.yaml && echo "$line" >>live.yaml &&
        test_must_fail fluxq-ctl reload 2>why && cat why && grep "${line%%:*}.*restart" why || return 1
    done &&
    sed "s/nodes: 4/nodes: 5/" kept.yaml >live.yaml &&
    test_must_fail fluxq-ctl reload 2>why && grep "local.*restart" why &&
    cp kept.yaml live.yaml && fluxq-ctl reload && test "$(job_state $runs)" = RUNNING
'
test_expect_success 'reload refuses to remove a queue with jobs, and removes an empty queue' '
    id=$(fluxq-submit --hold -q extra -- true) &&
    grep -v extra kept.yaml >live.yaml &&
    test_must_fail fluxq-ctl reload 2>why && grep "extra.*job $id" why &&
    fluxq-cancel $id && wait_job_state $id CANCELLED && fluxq-ctl reload &&
    test_must_fail fluxq-submit -q extra -- true &&
    test "$(job_field $id queue)" = extra
'
test_expect_success 'a second broker with the same state directory or socket is refused' '
    test_expect_code 1 fluxqd --local 1 --state-dir "$BROKER_STATE" --runtime-dir "$FLUXQ_RUN/second" 2>why &&
    grep "in use by another fluxqd, process $BROKER_PID" why &&
    test_expect_code 1 fluxqd --local 1 --state-dir other --runtime-dir "$FLUXQ_RUN" 2>why &&
    grep "another broker listens" why &&
    fluxq-queue >/dev/null
'
test_expect_success 'after a restart without a queue the jobs of this queue are in the default queue' '
    id=$(fluxq-submit --hold -q debug -- true) &&
    fluxq-cancel $runs && wait_job_state $runs CANCELLED && stop_broker &&
    grep -v "debug" live.yaml >less.yaml &&
    start_broker --config less.yaml &&
    test "$(job_state $id)" = PENDING && fluxq-ctl release $id && wait_job_state $id COMPLETED
'
test_expect_success 'reload refuses new settings of the machine, also when the file had none' '
    stop_broker && echo "grace: 2s" >plain.yaml && start_broker --config plain.yaml &&
    echo "local: {nodes: 2}" >>plain.yaml &&
    test_must_fail fluxq-ctl reload 2>why && grep "local.*restart" why
'
test_expect_success 'the broker stops' 'stop_broker'
test_done
