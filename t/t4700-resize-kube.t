#!/bin/sh
# t4700-resize-kube.t: jobs that grow and shrink on a real cluster. Needs root; about three minutes.

test_description='malleable jobs on a real cluster, with both ways of making pods

A pod that does not start or does not end, a rank that is started twice, a name that new nodes cannot resolve, a
node that is not free again, or a resize that a killed broker forgets would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4700

with()
{
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "grace: 2s" "resize-grace: 2s" "resize-grow: false" "  pods: $1" &&
        { [ -z "$BROKER_PID" ] || stop_broker; } && again
}

again()
{
    start_broker --kube --config "$HERE/kube.yaml" &&
        for i in 1 2 3; do wait_until 30 sh -c "fluxq-info --json | grep -q node$i" || return 1; done
}

is_size()
{
    [ "$(job_field "$1" nodes)" = "$2" ] && [ "$(job_field "$1" resize)" = null ]
}

# ranks ID: prints the ranks with a pod, sorted.
ranks()
{
    k get pods -l "fluxq.io/job-id=$1" -o json |
        jq -r '[.items[] | select(.status.phase != "Succeeded") | .metadata.labels["batch.kubernetes.io/job-completion-index"]] | sort | join(" ")'
}

has_ranks()
{
    [ "$(ranks "$1")" = "$2" ]
}

# tasks ID: prints the number of nodes of the last step, according to the script's output.
has_tasks()
{
    [ "$(fluxq-logs "$1" | sed -n 's/^step of //p' | tail -n 1)" = "$2" ]
}

job_has()
{
    k get job "fluxq-t4700-$1-0" -o json 2>/dev/null | jq -e "$2" >/dev/null
}

clean()
{
    wait_until 60 eval "our_objects >objects && ! grep -e \"-t4700-$1-\" objects"
}

write_script work.sh <<\END
#!/bin/sh
echo begun
trap '. "$FLUXQ_RESIZE_FILE"; echo "heard $FLUXQ_RESIZE_STATE $FLUXQ_RESIZE_NNODES"' WINCH
until [ -e /tmp/stop ]; do
    echo "step of $(fluxq-run sh -c 'echo $FLUXQ_NODENAME' | sort -u | wc -l)"
    sleep 0.5
done
END

own_cluster --nodes 3

for way in broker controller; do
    test_expect_success "$way: when a job shrinks its last pods go, and their nodes are free" '
        with $way && id=$(fluxq-submit -N 1-3 --exclusive --malleable -t 20 --start-timeout=0:30 -o /dev/null work.sh) &&
        wait_job_state $id RUNNING 60 && wait_until 30 has_tasks $id 3 && has_ranks $id "0 1 2" &&
        fluxq-ctl resize $id -N 1 && wait_until 60 is_size $id 1 && has_ranks $id 0 &&
        job_has $id ".spec | .completions == 1 and .parallelism == 1" && wait_until 20 has_tasks $id 1 &&
        other=$(fluxq-submit -N 2 --exclusive -o none.out -- true) && wait_job_state $other COMPLETED 60
    '

    test_expect_success "$way: when a job grows new pods join, and steps use them" '
        fluxq-ctl resize $id -N 3 && wait_until 60 is_size $id 3 && has_ranks $id "0 1 2" &&
        job_has $id ".spec | .completions == 3 and .parallelism == 3" && wait_until 20 has_tasks $id 3 &&
        fluxq-logs $id >out && grep "heard shr" out && grep "heard grown 3" out && test $(grep -c begun out) = 1
    '

    test_expect_success "$way: a broker that is killed during a resize continues the resize" '
        fluxq-ctl resize $id -N 2 && kill_broker && again && wait_until 60 is_size $id 2 && has_ranks $id "0 1" &&
        fluxq-ctl resize $id -N 3 && kill_broker && again && wait_until 60 is_size $id 3 && has_ranks $id "0 1 2" &&
        fluxq-ctl resize $id -N 1 && sleep 1 && kill_broker && again && wait_until 60 is_size $id 1 && has_ranks $id 0 &&
        fluxq-ctl resize $id -N 2 && sleep 1 && kill_broker && again && wait_until 60 is_size $id 2 && has_ranks $id "0 1" &&
        wait_until 20 has_tasks $id 2 && fluxq-logs $id >out && test $(grep -c begun out) = 1
    '

    test_expect_success "$way: a rank that is to leave can die during the resize" '
        fluxq-ctl resize $id -N 3 && wait_until 60 is_size $id 3 && wait_until 20 has_tasks $id 3 &&
        fluxq-ctl resize $id -N 2 && kill_agent $id 2; wait_until 60 is_size $id 2 && has_ranks $id "0 1" &&
        wait_until 20 has_tasks $id 2
    '

    test_expect_success "$way: when new pods do not start in time the job goes on with its old size" '
        fluxq-ctl resize $id -N 1 && wait_until 60 is_size $id 1 &&
        test_when_finished "k delete quota few --ignore-not-found" && k create quota few --hard=pods=1 &&
        wait_until 20 eval "test \"\$(k get quota few -o json | jq -r .status.used.pods)\" = 1" &&
        fluxq-ctl resize $id -N 3 && wait_until 90 is_size $id 1 && has_ranks $id 0 && said $id "by=broker" &&
        k delete quota few && fluxq-ctl resize $id -N 2 && wait_until 60 is_size $id 2 && wait_until 20 has_tasks $id 2 &&
        fluxq-logs $id >out && test $(grep -c begun out) = 1
    '

    test_expect_success "$way: the job ends, and nothing is left" '
        fluxq-cancel $id && wait_job_state $id CANCELLED 60 && clean $id
    '
done

test_expect_success 'no object of this cluster id is left' '
    stop_broker && wait_until 60 no_jobs_of_ours
'

test_done
