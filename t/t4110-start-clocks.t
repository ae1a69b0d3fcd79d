#!/bin/sh
# t4110-start-clocks.t: starts that take too long on a real cluster. Needs root; about 2 minutes.

test_description='the clocks of a start on a real cluster: not placed, image being pulled, created and not ready

A job that is given up while its image comes, that waits forever for a missing image, or that is tried
again where it failed, or a broken node that keeps getting jobs would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4110

# with LINE...: restarts the broker with these settings.
with()
{
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "start-backoff-max: 1s" "$@" &&
        { [ -z "$BROKER_PID" ] || stop_broker; } && start_broker --kube --config "$HERE/kube.yaml"
}

node_state()
{
    fluxq-info --json | jq -r --arg n "$1" '.nodes[] | select(.name == $n) | .state + " " + (.reason // "")'
}

nodes_of()
{
    job_field "$1" nodelist
}

has_events()
{
    [ "$(count_events "$1" "$2")" -ge "$3" ]
}

# allocated_for ID SECONDS: the job has had its nodes for SECONDS.
allocated_for()
{
    fluxq-show job "$1" --json | jq -e ".alloc_time > 0 and now - .alloc_time > $2" >/dev/null
}

# kubelet I SIGNAL: sends SIGNAL to the kubelet of node I, which has a pid namespace of its own.
kubelet()
{
    "$KUBE/node" exec "$1" sh -c "kill -$2 \$(pidof kubelet)"
}

# A registry that accepts connections and never answers.
cat >silent.py <<END
import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 5999))
s.listen(64)
open("silent.up", "w").close()
kept = []
while True:
    kept.append(s.accept())
END

own_cluster --nodes 3

test_expect_success 'the broker knows its nodes, and a registry that never answers runs' '
    { "$KUBE/enter" timeout 600 python3 silent.py & } && silent=$! && wait_until 20 test -e silent.up &&
    with "start-timeout: 10s" "pull-timeout: 15s" "start-retries: 1" &&
    for i in 1 2 3; do wait_until 30 eval "node_state node$i | grep -q ^up" || return 1; done &&
    id=$(fluxq-submit -N 3 -- true) && wait_job_state $id COMPLETED 60 # the first pod of a kubelet is slow
'

test_expect_success 'an image pull may exceed start-timeout, pull-timeout ends it, and the reason names image and node' '
    id=$(fluxq-submit -o silent.out --image 127.0.0.1:5999/silent:1 -- true) &&
    wait_until 40 eval "job_field $id reason_text | grep \"image 127.0.0.1:5999/silent:1 is being pulled on node1\"" &&
    wait_until 40 has_events $id requeue 1 &&
    said $id "requeue.*image 127.0.0.1:5999/silent:1 is still being pulled on node1 after 0:15.*avoid=node1" &&
    kill $silent && # the kubelet keeps the pod until its pull has ended
    wait_job_state $id FAILED 120 && said $id "alloc.*nodelist=node2" &&
    job_field $id result_text | grep "still being pulled on node2 after 0:15: .*ErrImagePull" &&
    for i in 1 2 3; do node_state node$i | grep -q "^up" || return 1; done
'

test_expect_success 'a job whose image arrives after start-timeout runs' '
    with "start-timeout: 6s" "pull-timeout: 5m" "start-retries: 0" &&
    id=$(fluxq-submit -o late.out --image 127.0.0.1:5998/late:$$ -- echo came) &&
    wait_until 40 eval "job_field $id reason_text | grep \"image 127.0.0.1:5998/late:$$ cannot be pulled on node1: .*(tried again)\"" &&
    wait_until 30 allocated_for $id 8 && # start-timeout has passed
    for i in 1 2 3; do "$KUBE/node" exec $i ctr -n k8s.io images tag docker.io/library/busybox:1 127.0.0.1:5998/late:$$ || return 1; done &&
    wait_job_state $id COMPLETED 120 && grep came late.out && [ "$(count_events $id requeue)" = 0 ]
'

test_expect_success 'an invalid image name fails the job at once' '
    id=$(fluxq-submit -o bad.out --image "NO::image" -- true) && wait_job_state $id FAILED 30 &&
    [ "$(count_events $id requeue)" = 0 ]
'

# One start that fails on node1: the test freezes the kubelet of node1 until the start was given up.
fails_on_node1()
{
    kubelet 1 STOP && id=$(fluxq-submit -o frozen.out -- true)
    wait_until 40 has_events "$id" requeue 1
    rc=$?
    kubelet 1 CONT
    [ $rc = 0 ] && said "$id" "requeue.*1 of 1 ranks are not ready after 0:03: node1: its kubelet has not accepted the pod.*avoid=node1" &&
        wait_job_state "$id" COMPLETED 90 && said "$id" "alloc.*nodelist=node2"
}

test_expect_success 'a start on a frozen kubelet is given up, and the next try goes to another node' '
    with "start-timeout: 3s" "drain-after-failures: 2" &&
    wait_until 60 eval "node_state node1 | grep -q ^up" && fails_on_node1
'
test_expect_success 'after a second job with a failed start the node is drained, until it is resumed' '
    wait_until 60 eval "node_state node1 | grep -q ^up" && fails_on_node1 &&
    wait_until 60 eval "node_state node1 | grep \"^drained 2 jobs failed to start here, last: .*node1: its kubelet\"" &&
    id=$(fluxq-submit -o after.out -- true) && wait_job_state $id COMPLETED 60 && said $id "alloc.*nodelist=node2" &&
    fluxq-ctl resume node1 && node_state node1 | grep "^up"
'
test_expect_success 'of several ranks only the node of the faulty rank is avoided' '
    with "start-timeout: 4s" && wait_until 60 eval "node_state node1 | grep -q ^up" && kubelet 2 STOP &&
    id=$(fluxq-submit -N 2 -n 2 -o two.out -- true) && { wait_until 40 has_events $id requeue 1; kubelet 2 CONT; } &&
    said $id "requeue.*1 of 2 ranks are not ready after 0:04: node2: .*avoid=node2" &&
    wait_job_state $id COMPLETED 90 && said $id "alloc.*nodelist=node\[1,3\]"
'

test_expect_success 'after all jobs no object of this cluster id is left' '
    wait_until 90 no_jobs_of_ours && stop_broker && wait_until 60 nothing_of_ours
'
test_done
