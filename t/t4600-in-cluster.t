#!/bin/sh
# t4600-in-cluster.t: the broker in a pod as in etc/kubernetes, from the image of contrib/image,
# with munged beside it; users submit from a login node. Then the same with the chart in
# etc/kubernetes/helm. Needs root and munge.

test_description='a broker in the cluster serves users outside, and survives the loss of its pod and its node'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4600
base=$FLUXQ_SOURCE_DIR/etc/kubernetes

own_cluster --nodes 3

cluster() { timeout 60 "$KUBE/enter" kubectl "$@"; }

test_expect_success 'the base renders and is valid, its rights are those of rbac.yaml, and its settings are accepted' '
    cluster kustomize "$base" >base.yaml && cluster apply -f "$base/jobnamespace.yaml" && cluster apply -f base.yaml --dry-run=server >applied && grep "deployment.apps/fluxq" applied &&
    cluster create --dry-run=client -o json -f "$base/rbac.yaml" | jq -S "select(.kind == \"ClusterRole\") | .rules" >wanted &&
    cluster create --dry-run=client -o json -f base.yaml | jq -S "select(.kind == \"ClusterRole\") | .rules" >rules &&
    [ -s rules ] && test_cmp wanted rules &&
    fluxqd --check --config "$base/fluxq.yaml"
'

# ---- an overlay, as an administrator would write one ----

# The two users that the cluster knows in addition to the image's own.
write_users()
{
    { sed -n '/^daemon:/p; /^nobody:/p' /etc/passwd && echo 'fluxq:x:65532:65532::/:/sbin/nologin'; } >overlay/passwd &&
        { sed -n '/^daemon:/p; /^nogroup:/p' /etc/group && echo 'fluxq:x:65532:'; } >overlay/group
}

write_overlay()
{
    mkdir -p overlay "$FLUXQ_RUN/volume" && write_users &&
        sed "s/^cluster-id:.*/cluster-id: $CLUSTER_ID/; s/^  namespace: .*/&\n  image: busybox:1/" "$base/fluxq.yaml" >overlay/fluxq.yaml &&
        cat >overlay/volume.yaml <<END &&
apiVersion: v1
kind: PersistentVolume
metadata: {name: fluxq-state}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ""
  local: {path: "$FLUXQ_RUN/volume"}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node1, node2]}]}]}
END
        cat >overlay/kustomization.yaml <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: ["$(realpath --relative-to overlay "$base")", volume.yaml]
configMapGenerator:
- {name: fluxq, namespace: fluxq, behavior: replace, files: [fluxq.yaml]}
- {name: fluxq-users, namespace: fluxq, files: [passwd, group]}
images: [{name: localhost/fluxq, newTag: test}]
patches:
- target: {kind: PersistentVolumeClaim}
  patch: |-
    - {op: add, path: /spec/storageClassName, value: ""}
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/volumes/-, value: {name: users, configMap: {name: fluxq-users}}}
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-,
       value: {name: users, mountPath: /etc/passwd, subPath: passwd, readOnly: true}}
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-,
       value: {name: users, mountPath: /etc/group, subPath: group, readOnly: true}}
END
}

roll_out() { cluster apply -k overlay >applied 2>&1 && k rollout status deployment/fluxq --timeout=55s; }
broker_pod() { k get pods -l app.kubernetes.io/name=fluxq --field-selector=status.phase=Running -o json | jq -r "$1"; }

sees_nodes() { k exec deploy/fluxq -c broker -- fluxq-ctl status >status && grep "Executor: *kube" status && grep "3 up" status; }
test_expect_success 'with image, key and overlay the broker is ready' '
    "$FLUXQ_SOURCE_DIR/contrib/image" --output image.tar --tag localhost/fluxq:test && "$KUBE/node" load image.tar &&
    (umask 077 && dd if=/dev/urandom bs=64 count=1 of="$FLUXQ_RUN/munge.key" 2>/dev/null) &&
    k create secret generic fluxq-munge --from-file=munge.key="$FLUXQ_RUN/munge.key" &&
    write_overlay && wait_until 120 roll_out &&
    wait_until 30 sees_nodes
'

test_expect_success 'no process of the broker'\''s pod has root, and each can write only to its volumes' '
    pids=$(on_our_nodes "sbin/fluxqd --config /etc/fluxq/" && on_our_nodes "^/usr/sbin/munged .*/etc/munge/munge.key") &&
    for pid in $pids; do stat -c %u:%g "/proc/$pid" || return 1; done >ids && printf "65532:65532\n65532:65532\n" >expected &&
    test_cmp expected ids &&
    broker_pod ".items[0].spec | .containers[], .initContainers[] | .securityContext.readOnlyRootFilesystem" | sort -u >only &&
    echo true >expected && test_cmp expected only &&
    [ "$(broker_pod "[.items[0].spec.volumes[] | select(.secret)] | length")" = 1 ] &&
    [ "$(broker_pod "[.items[0].spec.containers[].volumeMounts[] | select(.name == \"munge-key\")] | length")" = 0 ]
'

may() { k auth can-i --as=system:serviceaccount:fluxq:fluxq -n "$3" "$1" "$2"; }
may_not() { ! may "$@" >answer && [ "$(cat answer)" = no ]; }
test_expect_success 'the broker can list Secrets in the namespace of its jobs, and has no right in the namespace of the MUNGE key' '
    may list secrets fluxq-jobs && may create secrets fluxq-jobs && may delete secrets fluxq-jobs && may_not get secrets fluxq-jobs &&
    may_not watch secrets fluxq-jobs && may_not update secrets fluxq-jobs &&
    for verb in get list watch create update patch delete; do may_not $verb secrets fluxq || return 1; done &&
    may_not create pods fluxq && may_not create pods/exec fluxq && may_not get secrets default
'

# ---- the login node: a munged with the same key ----

munge_dir=$FLUXQ_RUN/munge
mkdir "$munge_dir" "$FLUXQ_RUN/bin" && chmod 755 "$FLUXQ_RUN" "$munge_dir" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN/bin"
start_munged()
{
    munged --foreground --force --key-file="$FLUXQ_RUN/munge.key" --socket="$munge_dir/socket" \
        --pid-file="$munge_dir/pid" --seed-file="$munge_dir/seed" --log-file="$munge_dir/log" \
        </dev/null >munged.log 2>&1 3>&- 4>&- 5>&- &
    munged_pid=$!
    wait_until 10 test -S "$munge_dir/socket"
}
end_login()
{
    status=$?
    [ -z "${munged_pid:-}" ] || kill "$munged_pid" 2>/dev/null
    (exit $status)
    cluster_finish
}
trap end_login EXIT

# This cluster has no kube-proxy, so the Service's address is added to the pod behind the Service.
service=fluxq
find_broker()
{
    address=$(k get endpointslices -l kubernetes.io/service-name=$service -o json |
        jq -r '.items[].endpoints[]? | select(.conditions.ready) | .addresses[0]') && [ -n "$address" ]
}

# as USER COMMAND...: runs fluxq COMMAND as USER on the login node.
as()
{
    as_user=$1 as_command=$2
    shift 2
    (cd / && timeout 60 "$KUBE/enter" env HOME=/nowhere FLUXQ_MUNGE_SOCKET="$munge_dir/socket" \
        FLUXQ_BROKER="http://$address:7718" setpriv --reuid="$as_user" --regid="$(id -g "$as_user")" --init-groups \
        "$FLUXQ_RUN/bin/fluxq" "$as_command" "$@")
}
field() { as root show job "$1" --json | jq -r ".$2"; }
is_state() { [ "$(field "$1" state)" = "$2" ]; }
started_once() { [ "$(events_of "$1" | awk '$3 == "start"' | wc -l)" = 1 ]; }
events_of() { as root show job "$1" --events; }

test_expect_success MUNGE 'users of a login node submit over TCP with MUNGE, and their jobs run as these users' '
    start_munged && wait_until 30 find_broker &&
    id=$(as daemon submit -N 2 -n 2 -o /dev/null -- sh -c "echo task \$FLUXQ_PROCID of \$(id -u)") &&
    wait_until 90 is_state "$id" COMPLETED && as daemon logs "$id" | sort >output &&
    printf "task %s of $(id -u daemon)\n" 0 1 >expected && test_cmp expected output &&
    as nobody queue >seen && test_must_fail as nobody logs "$id" 2>refusal && grep -i "job $id" refusal
'

test_expect_success MUNGE 'commands in the pods of a job act as its user, although the broker has no root, and see no file of the broker' '
    other=$(as nobody submit -H -o /dev/null -- true) &&
    id=$(as daemon submit -o /dev/null -- sh -c "squeue -h -o \"sees %u\" -j \$SLURM_JOB_ID; scancel $other; echo other \$?; \
        sbatch --export-file /run/munge/munge.socket.2 --wrap true; sbatch /etc/fluxq/fluxq.yaml; scontrol show hostlist /etc/fluxq/fluxq.yaml; echo file \$?") &&
    wait_until 90 is_state "$id" COMPLETED && as daemon logs "$id" >output 2>&1; cat output &&
    grep -x "sees daemon" output && grep -x "other 1" output && grep "Access/permission denied" output &&
    test "$(grep -c "No such file" output)" = 3 && grep -x "file 1" output && is_state "$other" PENDING && as nobody cancel "$other"
'

test_expect_success MUNGE 'a submit of a user that the cluster does not know is refused with the reason' '
    test_must_fail as bin submit -o /dev/null -- true 2>refusal && grep "uid $(id -u bin) has no entry" refusal
'

test_expect_success MUNGE 'the broker cannot access users'\'' files, and a job that needs such a file fails with this reason before its start' '
    id=$(as daemon submit -o /tmp/x.out -- true) && wait_until 60 is_state "$id" FAILED &&
    events_of "$id" >events && grep "/tmp/x.out: the pods do not see this file, and the broker runs without root" events &&
    id=$(as daemon submit -o /dev/null -i /etc/hostname -- cat) && wait_until 60 is_state "$id" FAILED &&
    events_of "$id" >events && grep "input file: /etc/hostname: the pods do not see" events && ! grep " start\$" events &&
    id=$(as daemon submit -o /dev/null --stage-out /etc/hostname:/tmp/here -- true) && wait_until 60 is_state "$id" FAILED &&
    events_of "$id" >events && grep "stage-out: .*the pods do not see" events
'

counting="[ \$FLUXQ_PROCID = 0 ] || exec sleep 97460; n=0; while :; do echo \$n; n=\$((n + 1)); sleep 0.1; done"
goes_on() { as daemon logs "$1" >now && [ "$(wc -l <now)" -gt "$2" ] && counts_up now "$(wc -l <now)"; }
another_pod() { uid=$(broker_pod '.items[0].metadata.uid') && [ "$uid" != null ] && [ "$uid" != "$1" ]; }

test_expect_success MUNGE 'after a kill of the broker its container restarts and finds the job, without a lost or repeated line' '
    id=$(as daemon submit -N 2 -n 2 -o /dev/null -- sh -c "$counting") && wait_until 90 is_state "$id" RUNNING &&
    wait_until 60 goes_on "$id" 5 && pid=$(on_our_nodes "sbin/fluxqd --config /etc/fluxq/") && kill -9 $pid &&
    wait_until 60 goes_on "$id" $(($(wc -l <now) + 5)) &&
    [ "$(broker_pod ".items[0].status.containerStatuses[0].restartCount")" = 1 ] &&
    started_once "$id"
'

test_expect_success MUNGE 'after the deletion of its pod another broker takes over, with the journal of the volume' '
    uid=$(broker_pod ".items[0].metadata.uid") && k delete pod -l app.kubernetes.io/component=broker --wait=true &&
    wait_until 60 another_pod "$uid" && wait_until 60 find_broker &&
    lines=$(wc -l <now) && wait_until 60 goes_on "$id" $((lines + 5)) && started_once "$id"
'

test_expect_success MUNGE 'after a kill munged restarts, and users can send requests again' '
    pid=$(on_our_nodes "^/usr/sbin/munged --foreground --force --key-file=/etc/munge") && kill -9 $pid &&
    wait_until 60 as daemon queue
'

# evict NAMESPACE POD: asks for the eviction of the pod.
evict() { k create --raw "/api/v1/namespaces/$1/pods/$2/eviction" -f - <<END
{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "$2", "namespace": "$1"}}
END
}
test_expect_success MUNGE 'a running job cannot be evicted, and the broker can' '
    pod=$(k -n fluxq-jobs get pods -l fluxq.io/job-id=$id -o json | jq -r ".items[0].metadata.name") &&
    ! evict fluxq-jobs "$pod" 2>refusal && grep -i "disruption budget" refusal &&
    uid=$(broker_pod ".items[0].metadata.uid") && evict fluxq "$(broker_pod ".items[0].metadata.name")" &&
    wait_until 90 another_pod "$uid" && wait_until 60 find_broker && wait_until 60 is_state "$id" RUNNING
'

test_expect_success MUNGE 'a change of the settings starts a new broker, and the job goes on' '
    uid=$(broker_pod ".items[0].metadata.uid") && echo "log-level: debug" >>overlay/fluxq.yaml &&
    wait_until 90 roll_out && another_pod "$uid" && wait_until 60 find_broker &&
    lines=$(wc -l <now) && wait_until 60 goes_on "$id" $((lines + 5)) && started_once "$id" &&
    as daemon cancel "$id" && wait_until 60 is_state "$id" CANCELLED
'

jobs_are_gone() { our_objects -A >objects && ! grep -qv fluxq-agent- objects; }
nothing_there()
{
    ! k get namespace fluxq 2>/dev/null && ! k get namespace fluxq-jobs 2>/dev/null && k get clusterroles,clusterrolebindings,pv -o name >left && ! grep fluxq- left
}
test_expect_success 'kubectl delete -k removes all objects' '
    wait_until 60 jobs_are_gone && { cluster delete -k overlay --wait=false || :; } &&
    wait_until 120 nothing_there && wait_until 30 nothing_of_ours
'

# ---- the same with the chart: a release of another name, with jobs in a namespace of their own
# ----

write_values()
{
    cat >values.yaml <<END
image: {tag: test, pullPolicy: Never, pullSecrets: [registry]}
config:
  cluster-id: $CLUSTER_ID
  kube: {namespace: t4600-jobs, image: "busybox:1"}
jobNamespace: {create: true}
jobNamespaces: [default]
rbac: {namespaces: true, nodeGroups: true}
serviceAccount: {name: broker, annotations: {example.org/purpose: test}}
munge: {secret: key-of-the-site}
users: {configMap: accounts}
state: {storageClass: "", size: 1Gi, accessMode: ReadWriteOncePod}
service: {type: NodePort, nodePort: 30718}
networkPolicy: {apiServers: [10.244.0.0/16, 127.0.0.1/32], loginNodes: [10.0.0.0/8]}
labels: {team: hpc}
podLabels: {tier: batch}
podAnnotations: {example.org/scrape: "no"}
resources: {requests: {cpu: 100m, memory: 64Mi}}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: login, operator: Exists}]
priorityClassName: system-cluster-critical
extraVolumes: [{name: scratch, emptyDir: {}}]
extraVolumeMounts: [{name: scratch, mountPath: /scratch}]
sidecars: [{name: beside, image: "busybox:1", command: [sh, -c, "trap exit TERM; sleep 97461 & wait"], volumeMounts: [{name: scratch, mountPath: /scratch}]}]
END
}
chart()
{
    "$KUBE/helm-template" --release hpc --namespace fluxq --values values.yaml "$@" "$base/helm/fluxq"
}
install_chart()
{
    chart "$@" >objects.yaml && cluster apply -f objects.yaml >applied && cat applied &&
        k rollout status deployment/hpc-fluxq --timeout=55s
}
generation() { k get deployment hpc-fluxq -o "jsonpath={.metadata.generation}"; } # of the wanted state
# Makes the objects that must exist first: namespace, key, users, and a volume, as this cluster has
# no storage class.
prepare_chart()
{
    sed "s/name: fluxq-state/name: t4600-chart/; s/ReadWriteOnce/&Pod/; s,/volume\",/volume-chart\"," overlay/volume.yaml >volume.yaml &&
        mkdir "$FLUXQ_RUN/volume-chart" && k create namespace fluxq &&
        k create secret generic key-of-the-site --from-file=munge.key="$FLUXQ_RUN/munge.key" &&
        k create configmap accounts --from-file=overlay/passwd --from-file=overlay/group && k apply -f volume.yaml
}

test_expect_success MUNGE 'with the chart and other values users submit, and their jobs are in the jobs'\'' namespace' '
    prepare_chart && write_values && wait_until 120 install_chart && service=hpc-fluxq && wait_until 60 find_broker &&
    id=$(as daemon submit -N 2 -n 2 -o /dev/null -- sh -c "$counting") && wait_until 90 is_state "$id" RUNNING &&
    cluster get pods -n t4600-jobs -l fluxq.io/job-id=$id -o name >pods && [ "$(wc -l <pods)" = 2 ] &&
    wait_until 60 goes_on "$id" 5
'

test_expect_success MUNGE 'an upgrade without changes keeps the broker, other settings start a new one, and the job goes on' '
    uid=$(broker_pod ".items[0].metadata.uid") && before=$(generation) && wait_until 120 install_chart && [ "$(generation)" = "$before" ] &&
    ! another_pod "$uid" &&
    wait_until 120 install_chart --set config.log-level=debug && another_pod "$uid" && wait_until 60 find_broker &&
    lines=$(wc -l <now) && wait_until 60 goes_on "$id" $((lines + 5)) && started_once "$id" &&
    as daemon cancel "$id" && wait_until 60 is_state "$id" CANCELLED && wait_until 60 jobs_are_gone
'

# Removes the release like Helm: all its objects, except those with the keep annotation.
uninstall_chart()
{
    cluster create --dry-run=client -o json -f objects.yaml |
        jq "select(.metadata.annotations.\"helm.sh/resource-policy\" != \"keep\")" | cluster delete -f -
}
of_release()
{
    cluster get all,configmaps,serviceaccounts,pvc,pdb,networkpolicies,roles,rolebindings -A -l app.kubernetes.io/instance=hpc -o name &&
        cluster get namespaces,clusterroles,clusterrolebindings -l app.kubernetes.io/instance=hpc -o name
}
only_kept_is_there() { of_release >left && printf "%s\n" persistentvolumeclaim/hpc-fluxq-state namespace/t4600-jobs | cmp - left; }
test_expect_success MUNGE 'after an uninstall the release'\''s claim and its namespace stay' '
    of_release >there && [ "$(wc -l <there)" -ge 15 ] && uninstall_chart &&
    wait_until 60 only_kept_is_there && cluster delete namespace fluxq t4600-jobs --timeout=55s && wait_until 30 nothing_of_ours
'

test_done
