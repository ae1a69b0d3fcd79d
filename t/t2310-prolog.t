#!/bin/sh
test_description='prolog and epilog of the administrator run around each rank, and a failed one drains the node'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

hooks=$FLUXQ_RUN/hooks
mkdir "$hooks"

# Files set the actions of the programs on a node: NODE.prolog or NODE.epilog has a line of shell.
for kind in prolog epilog; do
    write_script "$hooks/$kind" <<END
#!/bin/sh
env | sort >"$hooks/$kind.env.\$FLUXQ_JOB_ID.\$FLUXQ_NODEID"
echo "$kind \$FLUXQ_JOB_ID \$FLUXQ_NODENAME" >>"$hooks/log"
[ ! -e "$hooks/\$FLUXQ_NODENAME.$kind" ] || . "$hooks/\$FLUXQ_NODENAME.$kind"
exit 0
END
done

configure()
{
    { echo 'grace: 1s'
      echo 'start-backoff: 0.1s'
      echo 'drain-after-failures: 0'
      echo 'prolog-timeout: 2s'
      echo "prolog: $hooks/prolog"
      echo "epilog: $hooks/epilog"
      echo 'local: {nodes: 4, cores: 2}'
      echo 'queues: {batch: {}, plain: {prolog: none, epilog: none}}'; } >prolog.yaml
}
configure

fresh()
{
    wait_until 20 none_active && rm -f "$hooks"/node* "$hooks"/*.env.* "$hooks/log" go &&
        for node in node0 node1 node2 node3; do fluxq-ctl resume $node 2>/dev/null; done
    :
}

# logged KIND ID: prints the nodes on which the program ran, one line each.
logged()
{
    grep "^$1 $2 " "$hooks/log" | sed 's/.* //' | sort
}

node_is()
{
    fluxq-show node "$1" --json >node.json && jq -r ".nodes[0].state, .nodes[0].reason" <node.json | head -n 2 >node.text &&
        [ "$(head -n 1 node.text)" = "$2" ]
}

done_with()
{
    wait_until 20 nodes_free
}

test_expect_success 'the broker starts' '
    start_broker --config prolog.yaml
'

test_expect_success 'on each rank the prolog runs before any task and the epilog after the last, both as the broker'\''s user' '
    fresh && id=$(fluxq-submit -N 3 -o /dev/null -- sh -c "echo task $$ >>$hooks/log") && wait_job_state $id COMPLETED &&
    done_with && printf "node0\nnode1\nnode2\n" >want && logged prolog $id >got && test_cmp want got &&
    logged epilog $id >got && test_cmp want got &&
    sed "s/ .*//" "$hooks/log" | uniq -c | sed "s/^ *//" >got &&
    printf "3 prolog\n3 task\n3 epilog\n" >want && test_cmp want got
'

test_expect_success 'prolog and epilog know job, user and node, and have no variables of the user or the broker' '
    fresh && id=$(SECRET=1 HIDDEN=2 fluxq-submit -N 2 -o /dev/null -- true) && wait_job_state $id COMPLETED && done_with &&
    sed "/^PATH=/d;/^PWD=/d;/^SHLVL=/d;/^_=/d;/^OLDPWD=/d" "$hooks/prolog.env.$id.1" >got && cat >want <<-END &&
	FLUXQ_ADMIN_PROGRAM=prolog
	FLUXQ_JOB_GID=$(id -g)
	FLUXQ_JOB_ID=$id
	FLUXQ_JOB_UID=$(id -u)
	FLUXQ_JOB_USER=$(id -un)
	FLUXQ_NNODES=2
	FLUXQ_NODEID=1
	FLUXQ_NODENAME=node1
	FLUXQ_QUEUE=batch
	FLUXQ_RESTART_COUNT=0
	END
    test_cmp want got && [ -e "$hooks/epilog.env.$id.0" ]
'

test_expect_success 'a queue can have no prolog and epilog' '
    fresh && : >"$hooks/log" && id=$(fluxq-submit -q plain -o /dev/null -- true) && wait_job_state $id COMPLETED && done_with &&
    test_must_be_empty "$hooks/log"
'

test_expect_success 'after a failed prolog the node is drained with the reason, and the job runs elsewhere at once' '
    fresh && echo "echo to stdout; echo no scratch >&2; echo more >&2; exit 3" >"$hooks/node1.prolog" &&
    id=$(fluxq-submit -N 2 -o /dev/null -- sh -c "echo task >>$hooks/log") && wait_job_state $id COMPLETED 30 &&
    node_is node1 drained && grep -F "prolog failed on node node1: exit status 3: no scratch" node.text &&
    [ "$(job_field $id restarts)" = 1 ] && [ "$(job_field $id nodelist)" = "node[0,2]" ] &&
    fluxq-show job $id --events --json | jq -r ".events[] | select(.name == \"requeue\") | .context.reason" >text &&
    grep -F "prolog failed on node node1: exit status 3: no scratch" text &&
    [ "$(grep -c "^task" "$hooks/log")" = 2 ] && done_with &&
    grep -qE "^prolog $id node0" "$hooks/log" && grep -qE "^epilog $id node1" "$hooks/log"
'

test_expect_success 'output of a prolog is in the broker'\''s log, not in the user'\''s output' '
    grep -F "to stdout" "$BROKER_LOG" && grep -F "no scratch" "$BROKER_LOG" && ! fluxq-logs $id | grep -F "no scratch"
'

test_expect_success 'a prolog that times out, is killed, or cannot be executed fails, and none of its processes is left' '
    fresh && echo "sleep 97611 & sleep 97612" >"$hooks/node0.prolog" && echo "kill -SEGV \$\$" >"$hooks/node1.prolog" &&
    id=$(fluxq-submit -N 2 -o /dev/null -- true) && wait_job_state $id COMPLETED 30 &&
    node_is node0 drained && grep -F "prolog failed on node node0: not done after 2 s" node.text &&
    node_is node1 drained && grep -F "prolog failed on node node1: killed by signal 11" node.text &&
    [ "$(job_field $id restarts)" = 1 ] && ! ps -eo args | grep "^sleep 9761[12]"
'

test_expect_success 'a prolog that fails everywhere drains all nodes, and the job stays pending' '
    fresh && for node in node0 node1 node2 node3; do echo "exit 1" >"$hooks/$node.prolog"; done &&
    id=$(fluxq-submit -o /dev/null -- true) &&
    all_drained() { for node in node0 node1 node2 node3; do node_is $node drained || return; done; } &&
    wait_until 30 all_drained && wait_job_state $id PENDING && rm -f "$hooks"/node*.prolog &&
    fluxq-ctl resume node2 && wait_job_state $id COMPLETED && [ "$(job_field $id restarts)" = 4 ]
'

test_expect_success 'a failed epilog drains the node, and the job keeps its result' '
    fresh && echo "echo still mounted >&2; exit 5" >"$hooks/node0.epilog" &&
    id=$(fluxq-submit -o /dev/null -- true) && wait_job_state $id COMPLETED && done_with &&
    is_drained() { node_is node0 drained; } && wait_until 20 is_drained &&
    grep -F "epilog failed on node node0: exit status 5: still mounted" node.text &&
    [ "$(job_state $id)" = COMPLETED ]
'

test_expect_success 'a node that an operator drained keeps its reason after a failed epilog' '
    fresh && echo "while [ ! -e $PWD/go ]; do sleep 0.05; done; exit 5" >"$hooks/node0.epilog" &&
    id=$(fluxq-submit -o /dev/null -- true) &&
    begun() { grep -q "^epilog $id" "$hooks/log"; } && wait_until 20 begun &&
    fluxq-ctl drain node0 --reason "a new disk" && : >go && wait_job_state $id COMPLETED && done_with &&
    node_is node0 drained && grep -x "a new disk" node.text
'

test_expect_success 'a job cancelled during its prolog ends, its epilog runs, and no node is drained' '
    fresh && echo "sleep 97613" >"$hooks/node0.prolog" && sed -i "s/^prolog-timeout.*/prolog-timeout: 10m/" prolog.yaml &&
    fluxq-ctl reload && id=$(fluxq-submit -o /dev/null -- true) &&
    begun() { ps -eo args | grep -q "^sleep 9761[3]"; } && wait_until 20 begun &&
    fluxq-cancel $id && wait_job_state $id CANCELLED && done_with && logged epilog $id >got && echo node0 >want &&
    test_cmp want got && node_is node0 up && ! begun && configure && fluxq-ctl reload
'

test_expect_success 'after kill -9 of the broker the epilog of a running job runs once' '
    fresh && id=$(fluxq-submit -N 2 -o /dev/null -- sh -c "while [ ! -e go ]; do sleep 0.05; done") &&
    wait_job_state $id RUNNING && kill_broker && start_broker --config prolog.yaml && : >go &&
    wait_job_state $id COMPLETED && done_with && printf "node0\nnode1\n" >want && logged epilog $id >got && test_cmp want got &&
    logged prolog $id >got && test_cmp want got
'

test_expect_success ROOT 'prolog and epilog run as root for other users'\'' jobs, and the user cannot fake their results' '
    fresh && echo "id -u >$hooks/who" >"$hooks/node0.prolog" && chmod 755 "$FLUXQ_RUN" . &&
    id=$(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ fluxq-submit --chdir=/ -o /dev/null -- id -u) &&
    wait_job_state $id COMPLETED && echo 0 >want && test_cmp want "$hooks/who" &&
    grep -x FLUXQ_JOB_UID=65534 "$hooks/prolog.env.$id.0"
'

test_expect_success 'a missing or invalid program is refused when the configuration is read' '
    : >plain && chmod 644 plain && for value in /nonexistent/prolog relative/prolog "$PWD/plain"; do
        echo "prolog: $value" >bad.yaml && test_must_fail fluxqd --check --config bad.yaml 2>text &&
        grep -E "bad.yaml:1:.*prolog" text || return 1
    done
'

test_done
