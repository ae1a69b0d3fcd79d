#!/bin/bash
# t4000-kube.t: the test cluster of t/kube itself. Needs root; about 2 minutes, and the
# time of t/kube/build if t/kube/build has never run. Uses an instance of its own, so that
# a cluster for other work, or another run of this test, stays unchanged.

test_description='a real Kubernetes for tests (t/kube): starts, works, survives faults on purpose, leaves nothing'

KUBE=$(cd "$(dirname "$0")/kube" && pwd)
# sharness changes HOME, but the caches of the build are in the original HOME.
export FLUXQ_KUBE_CACHE=${FLUXQ_KUBE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fluxq-kube}
export FLUXQ_KUBE_NAME=fluxqt$$ FLUXQ_KUBE_RUN=/tmp/fluxqt$$-kube
BUILD_HOME=$HOME
RUN=$FLUXQ_KUBE_RUN
NETNS=/run/fluxq-kube/$FLUXQ_KUBE_NAME-kube
SHARNESS_TEST_DIRECTORY=${FLUXQ_BUILD_DIR:+$FLUXQ_BUILD_DIR/t}
SHARNESS_TEST_DIRECTORY=${SHARNESS_TEST_DIRECTORY:-$(mktemp -d /tmp/t4000-kube.XXXXXX)}
mkdir -p "$SHARNESS_TEST_DIRECTORY"

. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

other_instance() { FLUXQ_KUBE_NAME=$1 FLUXQ_KUBE_RUN=/tmp/$1-kube "${@:2}"; }

at_exit() {
    local status=$?
    "$KUBE/down" >/dev/null 2>&1
    other_instance "${FLUXQ_KUBE_NAME}b" "$KUBE/down" >/dev/null 2>&1
    rmdir "$SHARNESS_TEST_DIRECTORY" 2>/dev/null
    (exit $status)
    die
}
trap at_exit EXIT
trap 'exit 143' INT TERM HUP

up() { timeout 180 "$KUBE/up" "$@"; }
down() { timeout 60 "$KUBE/down"; }
k() { timeout 120 "$KUBE/enter" kubectl "$@"; }
as() { # USER KUBECTL-ARGUMENTS...: runs kubectl as the user of this kubeconfig
    local user=$1
    shift
    k --kubeconfig="$RUN/$user.kubeconfig" "$@"
}
may_in_group() { # USER GROUP RESOURCE VERB: like kubectl auth can-i, also for a resource that the server does not have
    echo "{\"apiVersion\": \"authorization.k8s.io/v1\", \"kind\": \"SelfSubjectAccessReview\", \"spec\": {\"resourceAttributes\": {
        \"namespace\": \"fluxq\", \"group\": \"$2\", \"resource\": \"$3\", \"verb\": \"$4\"}}}" |
        as "$1" create --validate=false -f - -o "jsonpath={.status.allowed}" | grep -x true
}
field() { k get "$1" -o "jsonpath={$2}"; }

until_true() { # SECONDS COMMAND...
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        test $SECONDS -lt $end || return 1
        sleep 0.2
    done
}

# pod NAME SPEC-LINES...: prints a pod that sleeps, unless a line says otherwise.
pod() {
    local name=$1
    shift
    cat <<END
apiVersion: v1
kind: Pod
metadata: {name: $name}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
$(printf '  %s\n' "$@")
END
}
SLEEP='containers: [{name: c, image: "busybox:1", command: [sleep, "600"]}]'

# Prints what this machine has of this instance, and the settings outside of it that a
# cluster may change.
machine() {
    grep -e "$FLUXQ_KUBE_NAME" -e "$RUN" /proc/self/mountinfo
    find /run/netns /run/fluxq-kube -name "*$FLUXQ_KUBE_NAME*" 2>/dev/null
    find /sys/fs/cgroup -maxdepth 2 -name "*$FLUXQ_KUBE_NAME*"
    ip -o link | cut -d: -f2
    ls -d "$RUN" "/run/$FLUXQ_KUBE_NAME-kube.lock" 2>/dev/null
    ls -d /etc/cni /etc/kubernetes /opt/cni /opt/containerd /run/containerd /run/kubernetes \
        /usr/libexec/kubernetes /var/lib/cni /var/lib/containerd /var/lib/kubelet /var/log/pods \
        "$BUILD_HOME/.kube" 2>/dev/null
    sysctl vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops \
        kernel.keys.root_maxkeys kernel.keys.root_maxbytes net.ipv4.ip_forward
    inotify_limit
}

# The settings while a cluster is up; after the last cluster they are as before. Another
# cluster that starts meanwhile records the settings before it changes them.
inotify_limit() {
    local note=/run/fluxq-kube-inotify now
    cat $note 2>/dev/null && return
    now=$(cat /proc/sys/fs/inotify/max_user_instances)
    cat $note 2>/dev/null || echo "$now"
}

# Prints the start time of a process that is not a zombie: pid and start time together
# identify the process.
started() { # PID
    sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }'
}

# Prints each process of the cluster as "pid start-time": processes in its network
# namespace, in a pid namespace that was made from there, or in its cgroups.
processes() {
    local net own all pid
    net="net:[$(stat -Lc %i "$NETNS")]" || return 1
    own=$(readlink /proc/self/ns/pid)
    all=$(for pid in /proc/[0-9]*; do
        echo "${pid#/proc/} $(readlink "$pid/ns/net") $(readlink "$pid/ns/pid")" \
            "$(grep -c "/$FLUXQ_KUBE_NAME-node" "$pid/cgroup")"
    done 2>/dev/null)
    awk -v net="$net" -v own="$own" 'NR == FNR { if ($2 == net && $3 != own) nodes[$3] = 1; next }
        $2 == net || $3 in nodes || $4 > 0 { print $1 }' <(echo "$all") <(echo "$all") |
        while read -r pid; do echo "$pid $(started "$pid")"; done
}

none_alive() { # FILE that the function processes wrote
    local pid start
    while read -r pid start; do
        test -n "$start" && test "$(started "$pid")" = "$start" || continue
        echo "still alive: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
        return 1
    done <"$1"
}

nothing_left() {
    machine >after && diff before after && test ! -e "$RUN"
}

test_expect_success 'root runs these tests' '
    test "$(id -u)" = 0
'

test_expect_success 'down --orphans removes instances of interrupted runs' '
    "$KUBE/down" --orphans && down && machine >before && test_must_fail grep "$FLUXQ_KUBE_NAME" before
'

test_expect_success 'after a build all parts exist' '
    HOME=$BUILD_HOME timeout 3000 "$KUBE/build" &&
    "$KUBE/build" --list >list && test_must_fail grep missing list && grep -c built list
'

test_expect_success 'build: a change of one version rebuilds only that part' '
    cp -rL "$KUBE" kube && sed -i "s/^coredns.*/coredns 9.9.9/" kube/versions &&
    kube/build --list >list && test "$(awk "\$2 == \"missing\" { print \$1 }" list)" = coredns
'

# A cache with everything built except the images.
other_cache() {
    mkdir -p cache/store && "$KUBE/build" --list | while read -r name _ place; do
        case $name in *.tar) ;; *) ln -sfn "$place" "cache/store/${place##*/}" ;; esac
    done && export FLUXQ_KUBE_CACHE="$PWD/cache"
}

test_expect_success 'build: after kill -9 of a build the next build does not take partial files as built' '
    (
        other_cache && for moment in 0.05 0.1 0.2 0.3; do
            { "$KUBE/build" & } && sleep $moment && kill -9 $!; wait $!
            "$KUBE/build" --list | grep -v "missing" | while read -r name _ place; do
                case $name in
                *.tar) tar -tf "$place/$name" >files && grep manifest.json files || exit 1 ;;
                esac
            done || exit 1
        done &&
        "$KUBE/build" && "$KUBE/build" --list >list && test_must_fail grep missing list &&
        test -z "$(ls -A cache/store | grep "^\.work")"
    )
'

test_expect_success 'build: two builds at once do the work once' '
    (
        rm -rf cache && other_cache &&
        { "$KUBE/build" 2>one.log & } && one=$! && "$KUBE/build" 2>two.log; two=$? && wait $one &&
        test $two = 0 && test "$(cat one.log two.log | grep -c "busybox.tar: done")" = 1
    )
'

test_expect_success 'image: the same input gives the same bytes' '
    mkdir -p one two && printf "#!/bin/sh\necho from the image\n" >hello && chmod +x hello &&
    for d in one two; do
        touch hello && "$KUBE/image" $d/hello.tar docker.io/library/hello:1 \
            --file /bin/busybox=/bin/busybox --link /bin/sh=busybox \
            --file /hello=hello --entrypoint /hello || return 1
    done &&
    cmp one/hello.tar two/hello.tar
'

test_expect_success 'every script answers --help, and refuses unknown words with 2' '
    for s in build up down enter node daemon status kueue mpi-image; do
        "$KUBE/$s" --help >help && grep -q "^usage: t/kube/$s" help || return 1
    done &&
    for s in "up --nodes" "up --nodes -1" "up --nodes 51" "up --cpus 0" "up --mem x" "up --what" \
        "down now" "enter" "status all" "build all" "build --with etcd" "build --lock all" \
        "daemon stop" "daemon stop etcd" "daemon wait kwok" "kueue now" "kueue --quota 5" "kueue --wait-for-pods-ready soon"; do
        test_expect_code 2 "$KUBE/"$s 2>error && grep -q "t/kube/" error || return 1
    done
'

test_expect_success 'without a cluster the other scripts report that no cluster is up' '
    for s in "enter true" "node stop 1" "daemon stop apiserver" status kueue; do
        test_expect_code 1 "$KUBE/"$s 2>error && grep -q "is not up" error || return 1
    done
'

test_expect_success 'a wrong instance name, and a state directory of another program, are refused' '
    test_expect_code 1 env FLUXQ_KUBE_NAME="a b" "$KUBE/up" &&
    test_expect_code 1 env FLUXQ_KUBE_RUN=/var/tmp/x "$KUBE/up" &&
    mkdir other && touch other/precious &&
    test_expect_code 1 env FLUXQ_KUBE_RUN="$PWD/other" timeout 180 "$KUBE/up" &&
    test_expect_code 1 env FLUXQ_KUBE_RUN="$PWD/other" "$KUBE/down" &&
    test -f other/precious && nothing_left
'

test_expect_success 'an up that fails prints the reason and leaves nothing' '
    test_expect_code 1 timeout 180 "$KUBE/up" --nodes 1 --apiserver-arg --no-such-flag 2>error &&
    grep "unknown flag" error && nothing_left
'

test_expect_success 'an up --keep that fails leaves its parts until down' '
    test_expect_code 1 timeout 180 "$KUBE/up" --keep --nodes 1 --apiserver-arg --no-such-flag &&
    grep "unknown flag" "$RUN/log/apiserver.log" && down && nothing_left
'

test_expect_success 'an interrupted up leaves nothing' '
    timeout -s INT 3 "$KUBE/up"; test $? != 0 && nothing_left
'

# The pid is of `up` itself: processes that `up` started go on after the kill.
for moment in 0.15 0.5 1.5 3.5; do
    test_expect_success "down after kill -9 of up, $moment s after its start, leaves nothing" '
        { "$KUBE/up" 2>/dev/null & } && pid=$! && sleep $moment && kill -9 $pid &&
        { wait $pid 2>/dev/null || true; } &&
        { processes >pids || true; } && down && none_alive pids && nothing_left
    '
done

test_expect_success 'after up three nodes are Ready' '
    up --nodes 3 && k get nodes --no-headers >nodes && cat nodes &&
    test "$(awk "\$2 == \"Ready\"" nodes | wc -l)" = 3 && "$KUBE/status"
'

test_expect_success 'nodes have the configured size, racks and zone' '
    k get nodes -o "jsonpath={range .items[*]}{.metadata.name} {.status.capacity.cpu} {.status.capacity.memory} {.metadata.labels.fluxq\.io/rack} {.metadata.labels.topology\.kubernetes\.io/zone}{\"\n\"}{end}" >nodes &&
    cat >expected <<-END &&
	node1 4 8Gi r1 z1
	node2 4 8Gi r1 z1
	node3 4 8Gi r2 z1
	END
    test_cmp expected nodes
'

test_expect_success 'a second up changes nothing, and another shape is refused' '
    processes | sort >first && up --nodes 3 2>output && grep "up already" output &&
    test_expect_code 1 "$KUBE/up" --nodes 2 && test_expect_code 1 "$KUBE/up" --cpus 5 &&
    cat "$RUN"/pid/* >now && for p in $(cat now); do grep "^$p " first || return 1; done
'

test_expect_success 'only root can read keys, tokens and kubeconfigs' '
    find "$RUN" -maxdepth 2 \( -name "*.key" -o -name "*token*" -o -name "*.kubeconfig" \) >files &&
    test "$(wc -l <files)" -gt 15 &&
    find $(cat files) ! -perm 0600 >open && test_must_be_empty open &&
    test "$(stat -c %a "$RUN")" = 755
'

test_expect_success 'nothing listens outside of the loopback and the bridge' '
    "$KUBE/enter" ss -Hltn >listen && awk "{ print \$4 }" listen |
        grep -v -e "^127\.0\.0\.1:" -e "^10\.244\." -e "^10\.96\.0\.1:443" >others;
    test_must_be_empty others
'

test_expect_success 'a pod runs on each node' '
    for i in 1 2 3; do pod on$i "nodeName: node$i" "$SLEEP" && echo --- || return 1; done >pods.yaml &&
    k create -f pods.yaml && k wait --for=condition=Ready --timeout=60s pod/on1 pod/on2 pod/on3 &&
    for i in 1 2 3; do
        test "$(k exec on$i -- hostname -i)" = "$(field pod/on$i .status.podIP)" || return 1
    done
'

test_expect_success 'in an Indexed Job rank 2 reaches rank 0 by its name under a headless Service' '
    k create -f - <<-\END &&
	apiVersion: v1
	kind: Service
	metadata: {name: gang}
	spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: gang}}
	---
	apiVersion: batch/v1
	kind: Job
	metadata: {name: gang}
	spec:
	  completions: 3
	  parallelism: 3
	  completionMode: Indexed
	  backoffLimit: 0
	  template:
	    metadata: {labels: {app: gang}}
	    spec:
	      restartPolicy: Never
	      subdomain: gang
	      terminationGracePeriodSeconds: 0
	      containers:
	      - name: c
	        image: busybox:1
	        command: [sh, -c]
	        args:
	        - |
	          case $JOB_COMPLETION_INDEX in
	          0) nc -l -p 5000 ;;
	          2) n=0; until echo "hello from rank 2" | nc gang-0.gang 5000; do
	               n=$((n + 1)); [ $n -lt 100 ] || exit 1; sleep 0.2; done ;;
	          esac
	END
    k wait --for=condition=Complete --timeout=60s job/gang &&
    pod0=$(k get pods -l batch.kubernetes.io/job-completion-index=0,app=gang -o name) &&
    test "$(k logs $pod0)" = "hello from rank 2" && k delete job/gang service/gang
'

test_expect_success 'in the cluster a service account reaches the API server as kubernetes.default' '
    k exec on2 -- sh -c "nslookup kubernetes.default.svc.cluster.local" >names && grep "10\.96\.0\.1" names &&
    k exec on2 -- sh -c "printf \"\" | nc -w 5 10.96.0.1 443"
'

test_expect_success 'a pod with schedulerName fluxq waits for the binding that user fluxq posts' '
    pod mine "schedulerName: fluxq" "$SLEEP" | k create -f - &&
    pod other "$SLEEP" | k create -f - &&
    k wait --for=condition=Ready --timeout=60s pod/other &&
    test -z "$(field pod/mine .spec.nodeName)" && test "$(field pod/mine .status.phase)" = Pending &&
    cat >binding <<-END &&
	{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "mine"},
	 "target": {"apiVersion": "v1", "kind": "Node", "name": "node3"}}
	END
    as fluxq create --raw /api/v1/namespaces/default/pods/mine/binding -f binding &&
    k wait --for=condition=Ready --timeout=60s pod/mine &&
    test "$(field pod/mine .spec.nodeName)" = node3 &&
    test_must_fail as fluxq create --raw /api/v1/namespaces/default/pods/mine/binding -f binding 2>error &&
    grep -i conflict error
'

test_expect_success 'the pod proxy reaches an HTTP server in a pod, and the log of the pod can be read' '
    pod web "nodeName: node1" \
        "containers: [{name: c, image: \"busybox:1\", command: [sh, -c, \"echo serving; echo here I am >index.html; exec httpd -f -p 8080\"]}]" |
        k create -f - &&
    k wait --for=condition=Ready --timeout=60s pod/web &&
    until_true 20 as fluxq get --raw /api/v1/namespaces/default/pods/web:8080/proxy/index.html >page &&
    grep "here I am" page && test "$(k logs web)" = serving
'

test_expect_success 'user fluxq has the rights of the broker, by certificate, token and token file' '
    for user in fluxq fluxq-token fluxq-tokenfile; do
        for may in "list nodes" "watch nodes" "list pods -A" "watch pods -A" "delete pods" "create pods --subresource=binding" \
            "get pods --subresource=proxy" "create pods --subresource=proxy" "list events" "get jobs.batch" "list jobs.batch" \
            "create jobs.batch" "patch jobs.batch" "delete jobs.batch" "create services" "create endpointslices.discovery.k8s.io" "patch endpointslices.discovery.k8s.io" \
            "delete endpointslices.discovery.k8s.io" "list endpointslices.discovery.k8s.io" "delete configmaps" "list secrets" \
            "create jobs.batch -n fluxq" "create pods" "deletecollection pods" "patch pods" "patch jobs.batch --subresource=status" \
            "get pods --subresource=log" \
            "get leases.coordination.k8s.io" "create leases.coordination.k8s.io" "update leases.coordination.k8s.io"; do
            as $user auth can-i $may >answer || { echo "$user: $may"; return 1; }
        done
        for may in list watch; do
            may_in_group $user topology.node.k8s.io noderesourcetopologies $may || { echo "$user: $may zones"; return 1; }
        done
        for may in get list create delete; do
            may_in_group $user flux-framework.org miniclusters $may || { echo "$user: $may miniclusters"; return 1; }
        done
    done
'

test_expect_success 'user fluxq has no other rights, and user nobody may not read anything' '
    for may in "delete nodes" "patch nodes" "get nodes" "list secrets -n kube-system" "create pods -n kube-system" "get pods" \
        "update pods" "patch pods -n kube-system" "delete pods -n kube-system" "list leases.coordination.k8s.io" \
        "get noderesourcetopologies.topology.node.k8s.io" "create pods --subresource=exec" \
        "update jobs.batch" "update jobs.batch --subresource=status" "watch jobs.batch" "patch secrets" "get secrets" "watch endpointslices.discovery.k8s.io" "patch services" "watch events" "list events -A" \
        "create namespaces" "get namespaces" "create clusterroles"; do
        test_expect_code 1 as fluxq auth can-i $may >answer || { echo "$may"; return 1; }
    done &&
    for may in update patch watch; do
        ! may_in_group fluxq flux-framework.org miniclusters $may || { echo "$may miniclusters"; return 1; }
    done &&
    test_expect_code 1 as nobody get pods 2>error && grep Forbidden error &&
    sed "s/token: ./token: wrong/" "$RUN/fluxq-token.kubeconfig" >wrong.kubeconfig &&
    test_expect_code 1 k --kubeconfig=wrong.kubeconfig get pods 2>error && grep -i unauthorized error
'

test_expect_success 'a loaded image runs, and an image that exists nowhere cannot be pulled' '
    "$KUBE/node" load one/hello.tar &&
    pod hello "containers: [{name: c, image: \"hello:1\"}]" | k create -f - &&
    pod nowhere "containers: [{name: c, image: \"no.such/image:1\"}]" | k create -f - &&
    k wait --for=jsonpath={.status.phase}=Succeeded --timeout=60s pod/hello &&
    test "$(k logs hello)" = "from the image" &&
    until_true 60 eval "field pod/nowhere .status.containerStatuses[0].state.waiting.reason | grep ImagePull"
'

test_expect_success 'enter passes the exit status, the directory and the input of its command' '
    test_expect_code 7 "$KUBE/enter" sh -c "exit 7" &&
    test "$(echo text | "$KUBE/enter" cat)" = text && test "$("$KUBE/enter" pwd)" = "$(pwd)"
'

test_expect_success 'node exec sees only the containers of its node' '
    "$KUBE/node" exec 1 ctr -n k8s.io containers list >one.list &&
    "$KUBE/node" exec 2 ctr -n k8s.io containers list >two.list &&
    grep busybox one.list | cut -d" " -f1 >ids && test -s ids && test_must_fail grep -f ids two.list
'

ready_is() { test "$(field node/$1 ".status.conditions[?(@.type==\"Ready\")].status")" = "$2"; }

test_expect_success 'after node stop the node'\''s processes end, Kubernetes marks the node, and other nodes go on' '
    "$KUBE/node" stop 2 && test -z "$(find /sys/fs/cgroup -maxdepth 2 -name "$FLUXQ_KUBE_NAME-node2")" &&
    until_true 60 ready_is node2 Unknown && ready_is node1 True &&
    test_expect_code 1 "$KUBE/status" && k exec on1 -- true
'

test_expect_success 'after node start the node is Ready, accepts pods, and its earlier pods have failed' '
    timeout 120 "$KUBE/node" start 2 && ready_is node2 True && "$KUBE/status" &&
    k wait --for=jsonpath={.status.phase}=Failed --timeout=60s pod/on2 &&
    pod again "nodeName: node2" "$SLEEP" | k create -f - &&
    k wait --for=condition=Ready --timeout=60s pod/again
'

test_expect_success 'a killed kubelet restarts, and its pods go on' '
    started=$(field pod/on3 ".status.containerStatuses[0].state.running.startedAt") &&
    test -n "$started" &&
    old=$(pgrep -f "^$RUN/bin/kubelet .*--hostname-override=node3") && kill -9 $old &&
    until_true 60 eval "new=\$(pgrep -f \"^$RUN/bin/kubelet .*--hostname-override=node3\") && test \$new != $old" &&
    until_true 60 k exec on3 -- true && ready_is node3 True &&
    test "$(field pod/on3 ".status.containerStatuses[0].state.running.startedAt")" = "$started" &&
    test "$(field pod/on3 ".status.containerStatuses[0].restartCount")" = 0
'

test_expect_success 'after apiserver stop no request is answered and pods go on, and after start all is as before' '
    ip=$(field pod/web .status.podIP) && "$KUBE/daemon" stop apiserver && test_must_fail k get nodes &&
    test "$("$KUBE/enter" curl -s --noproxy "*" "http://$ip:8080/")" = "here I am" &&
    timeout 90 "$KUBE/daemon" start apiserver && until_true 60 ready_is node1 True &&
    test "$(field pod/web .status.phase)" = Running
'

test_expect_success 'two clusters work side by side, and the end of one leaves the other' '
    (
        export FLUXQ_KUBE_NAME=fluxqt$$b FLUXQ_KUBE_RUN=/tmp/fluxqt$$b-kube
        up --nodes 1 --cpus 2 --mem 3 --no-scheduler && k get node node1 -o wide &&
        test "$(field node/node1 .status.capacity.cpu)" = 2 &&
        pod there "nodeName: node1" "$SLEEP" | k create -f - &&
        k wait --for=condition=Ready --timeout=60s pod/there
        status=$?
        down && test $status = 0 && test ! -e "$FLUXQ_KUBE_RUN"
    ) &&
    "$KUBE/status" && k exec on1 -- true && test_must_fail k get pod there
'

test_expect_success 'down --orphans removes what a killed suite left, and nothing else' '
    sh -c "exit 0" & dead=$! && wait $dead && netns=/run/fluxq-kube/fluxqt$dead-kube &&
    touch $netns && unshare --net=$netns true && { nsenter --net=$netns sleep 300 & } && left=$! &&
    until_true 10 eval "test \$(stat -Lc %i /proc/$left/ns/net) = $(stat -Lc %i $netns)" &&
    "$KUBE/down" --orphans && test ! -e $netns && test -z "$(started $left)" && "$KUBE/status"
'

# In a mount namespace, so that no other program has mounted over /run/netns yet and
# none is disturbed.
test_expect_success 'down leaves nothing, also if another program has mounted over /run/netns' '
    other_instance "${FLUXQ_KUBE_NAME}b" timeout 240 unshare -m --propagation private sh -c "
        while mountpoint -q /run/netns; do umount -l /run/netns; done
        \"$KUBE/up\" --nodes 0 --no-scheduler && \"$KUBE/enter\" kubectl get namespaces &&
        ip netns add ${FLUXQ_KUBE_NAME}c && mountpoint /run/netns; status=\$?
        \"$KUBE/down\" && ip netns del ${FLUXQ_KUBE_NAME}c && exit \$status
    " && find /run/netns /run/fluxq-kube -name "${FLUXQ_KUBE_NAME}[bc]*" >left && test_must_fail test -s left
'

test_expect_success 'up replaces a broken cluster' '
    kill -9 "$(cat "$RUN/pid/etcd")" && test_expect_code 1 "$KUBE/status" &&
    up --nodes 3 2>output && grep broken output && "$KUBE/status" && test_must_fail k get pod on1
'

test_expect_success 'down also ends processes that enter started, and a second down changes nothing' '
    pod last "nodeName: node1" "$SLEEP" | k create -f - &&
    k wait --for=condition=Ready --timeout=60s pod/last &&
    { "$KUBE/enter" sleep 600 & } && entered=$! && until_true 10 eval "processes | grep \"^$entered \"" &&
    processes >pids && test "$(wc -l <pids)" -gt 20 &&
    down && none_alive pids && nothing_left && down && nothing_left
'

test_done
