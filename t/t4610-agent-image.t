#!/bin/sh
# t4610-agent-image.t: the agent comes from an image, in a cluster that forbids programs from
# ConfigMaps. Needs root.

test_description='agent-delivery: image: jobs run in a cluster that forbids programs in ConfigMaps'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4610

own_cluster --nodes 2

test_expect_success 'the image is built and is on the nodes' '
    "$FLUXQ_SOURCE_DIR/contrib/image" --output image.tar --tag localhost/fluxq:test &&
    "$KUBE/node" load image.tar &&
    "$KUBE/node" exec 1 ctr -n k8s.io images ls -q >images && grep -x localhost/fluxq:test images
'

# The modes of a volume as a sum of r, w and x: an odd octal digit of the mode has x.
no_programs='!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.configMap) ||
  ([v.configMap.?defaultMode.orValue(420)] + v.configMap.?items.orValue([]).map(i, i.?mode.orValue(420)))
    .all(m, m % 2 == 0 && m / 8 % 2 == 0 && m / 64 % 2 == 0))'
make_policy()
{
    k apply -f - <<END
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-programs}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
  - message: a ConfigMap must not have programs
    expression: >-
$(echo "$no_programs" | sed 's/^/      /')
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-programs}
spec: {policyName: no-programs, validationActions: [Deny]}
END
}
policy_refuses()
{
    ! k create --dry-run=server -f - 2>refusal <<END && grep -q "must not have programs" refusal
{apiVersion: v1, kind: Pod, metadata: {name: probe}, spec: {containers: [{name: c, image: "busybox:1"}],
  volumes: [{name: v, configMap: {name: c, defaultMode: 0755}}]}}
END
}

test_expect_success 'the cluster refuses pods with programs in ConfigMaps' '
    make_policy && wait_until 60 policy_refuses
'

test_expect_success 'the default delivery of the agent does not start there, and the job shows the cluster'\''s reason' '
    write_config "$configs/fluxq.kubeconfig" "start-retries: 0" "place-timeout: 10s" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "fluxq-info --json | grep -q node2" &&
    id=$(fluxq-submit -o none.out -- true) && wait_job_state "$id" FAILED 90 &&
    said "$id" "must not have programs" && stop_broker
'

write_admin()
{
    printf '#!/bin/sh\necho prolog of $FLUXQ_JOB_ID\n' >prolog
    printf '#!/bin/sh\n[ ! -e /fail ] && exit 0\n' >epilog
    chmod 755 prolog epilog
}

test_expect_success 'with the agent from the image a script and a command run on all nodes, with prolog and epilog' '
    write_admin &&
    write_config "$configs/fluxq.kubeconfig" "prolog: $HERE/prolog" "epilog: $HERE/epilog" \
        "  agent-delivery: image" "  agent-image: localhost/fluxq:test" &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 sh -c "fluxq-info --json | grep -q node2" &&
    write_script two.sh <<-\END &&
	#!/bin/sh
	#SBATCH -N 2 -n 4 -o two.out
	echo "the script, as $0" && fluxq-run sh -c "echo task \$FLUXQ_PROCID"
	END
    fluxq-submit --wait two.sh && sort two.out >sorted &&
    printf "task %s\n" 0 1 2 3 >expected && grep task sorted | test_cmp expected - && grep "^the script" two.out &&
    fluxq-submit --wait -N 2 -o "c-%t.out" -- sh -c "echo \$FLUXQ_PROCID" && echo 1 >expected && test_cmp expected c-1.out
'

test_expect_success 'fluxq-bcast sends a file to all nodes, and only the agent can write to the agent'\''s directory' '
    write_script bcast.sh <<-\END &&
	#!/bin/sh
	#SBATCH -N 2 -o bcast.out
	fluxq-bcast /etc/passwd /tmp/sent && fluxq-run cmp /etc/passwd /tmp/sent && ! touch /fluxq/bin/x 2>/dev/null && echo good
	END
    fluxq-submit --wait bcast.sh && echo good >expected && test_cmp expected bcast.out
'

test_expect_success 'the agent has no ConfigMap' '
    id=$(fluxq-submit -o /dev/null -- sh -c "n=0; while :; do echo \$n; n=\$((n + 1)); sleep 0.2; done") &&
    wait_job_state "$id" RUNNING 60 &&
    k get configmaps -l fluxq.io/cluster=$CLUSTER_ID -o name >maps && ! grep fluxq-agent maps && grep "fluxq-$CLUSTER_ID-$id" maps &&
    k get pods -l fluxq.io/job-id=$id -o json | jq -r ".items[].spec.initContainers[].name" >names &&
    printf "agent\nepilog\nprolog\n" >expected && test_cmp expected names
'

goes_on() { fluxq-logs "$1" | grep "^[0-9]" >now; [ "$(wc -l <now)" -gt "$2" ]; }
test_expect_success 'a restarted broker finds the job' '
    kill_broker && start_broker --kube --config "$HERE/kube.yaml" && wait_job_state "$id" RUNNING 60 &&
    fluxq-logs "$id" >before && wait_until 60 goes_on "$id" "$(wc -l <before)" && counts_up now "$(wc -l <now)" &&
    fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 && wait_until 60 nothing_of_ours
'

test_expect_success 'an image with another agent fails the job without retries, and the error names the image' '
    cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" other && printf "\0" >>other && chmod 755 other &&
    "$FLUXQ_SOURCE_DIR/contrib/image-archive" other.tar localhost/fluxq:other --file /fluxq/fluxq-shell=other &&
    "$KUBE/node" load other.tar && stop_broker && sed -i "s/fluxq:test/fluxq:other/" kube.yaml &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 sh -c "fluxq-info --json | grep -q node2" &&
    id=$(fluxq-submit -o none.out -- true) && wait_job_state "$id" FAILED 60 &&
    said "$id" "kube.agent-image must be of the broker.s version" && wait_until 60 nothing_of_ours
'

test_expect_success 'the broker stops, and nothing is left' 'stop_broker && nothing_of_ours'
test_done
