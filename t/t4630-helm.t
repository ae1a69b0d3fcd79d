#!/bin/sh
# t4630-helm.t: the chart in etc/kubernetes/helm, rendered with Helm's own packages and compared
# with the kustomize base. Needs no cluster; t4600 installs the chart on one.

test_description='the Helm chart makes the objects of the kustomize base; each value applies, and unknown values are refused'
. "$(dirname "$0")/lib.sh"
KUBE=$FLUXQ_SOURCE_DIR/t/kube
base=$FLUXQ_SOURCE_DIR/etc/kubernetes
chart=$base/helm/fluxq

test_expect_success 'the renderer and kubectl exist' '
    "$KUBE/build" --quiet && kubectl=$("$KUBE/build" --list | awk "\$1 == \"kubectl\" { print \$3 \"/kubectl\" }") &&
    [ -x "$kubectl" ]
'

# render [OPTIONS]: renders the release fluxq in the namespace fluxq, unless the options set others.
render() { "$KUBE/helm-template" --namespace fluxq "$@" "$chart"; }

# json FILE: prints YAML documents as a JSON array. kubectl leaves an empty mapping in place of a
# removed value.
json()
{
    "$kubectl" annotate --local -o json -f "$1" no-such- |
        jq -s 'map(if .metadata.annotations == {} then del(.metadata.annotations) else . end)'
}

# Prints the settings in an array of objects as JSON; writes their text to fluxq.yaml.
settings()
{
    jq -r '.[] | select(.kind == "ConfigMap" and .data["fluxq.yaml"]).data["fluxq.yaml"]' "$1" >fluxq.yaml &&
        { printf 'apiVersion: v1\nkind: Settings\nmetadata: {name: of-the-broker}\nspec:\n' && sed 's/^/  /' fluxq.yaml; } >document &&
        json document | jq -S '.[0].spec'
}

test_expect_success 'the chart passes lint, has no unknown field, and has the versions of fluxq' '
    "$KUBE/helm-template" --lint "$chart" && cp -R "$chart" typo && sed -i "s/terminationGracePeriodSeconds/terminationGrace/" typo/templates/broker.yaml &&
    ! "$KUBE/helm-template" --lint typo >faults 2>&1 && grep "broker.yaml: .*spec.template.spec.terminationGrace" faults &&
    version=$(sed -n "s/^#define PACKAGE_VERSION \"\(.*\)\"/\1/p" "$FLUXQ_BUILD_DIR/config.h") &&
    grep -x "version: $version" "$chart/Chart.yaml" && grep -x "appVersion: $version" "$chart/Chart.yaml"
'

# ---- the chart and the base agree ----

# The complete list of additions of the chart: labels that name the release, also in selectors, so that
# several releases can exist; annotations; the namespace in names of cluster-wide objects; the type of the
# Service, which is the default. The base has the namespace itself, which with Helm the user creates, and
# kustomize gives the ConfigMap a new name at each change.
readonly without_besides='
    def own: ["app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart", "fluxq.io/cluster",
              "checksum/config", "helm.sh/resource-policy"];
    ((map(select(.kind == "ConfigMap"))[0]).metadata.name) as $settings |
    map(select(.kind != "Namespace") |
        del(.metadata.labels["app.kubernetes.io/managed-by", "app.kubernetes.io/name"], .data) |
        walk(if type == "object" then with_entries(select(.key as $k | own | index($k) | not)) else . end) |
        walk(if . == $settings then "fluxq" elif type == "string" then sub("^fluxq\\.fluxq-"; "fluxq-") else . end) |
        if .kind == "Service" and .spec.type == "ClusterIP" then del(.spec.type) else . end |
        walk(if type == "object" then with_entries(select(.value != {} or (.key | IN("labels", "annotations") | not))) else . end)) |
    sort_by(.kind, .metadata.namespace, .metadata.name)'

# Prints the objects of the base, with the optional rights for the same service account.
base_objects()
{
    "$kubectl" kustomize "$1" >base.yaml && json base.yaml >base.json &&
        for rights in namespaces rbac-node-groups rbac-tokens adopt; do
            json "$1/$rights.yaml" || return 1
        done | jq -s 'add | map(if .subjects then
            .subjects = [{kind: "ServiceAccount", name: "fluxq", namespace: "fluxq"}] else . end |
            if .kind == "RoleBinding" then .metadata.namespace = "fluxq-jobs" else . end)' >rights.json &&
        jq -s add base.json rights.json
}
# comparable FILE: prints objects and settings in a form that can be compared.
comparable() { jq -S "$without_besides" "$1" && settings "$1"; }
compare_with() { base_objects "$1" >base-and-rights.json && comparable base-and-rights.json >wanted && test_cmp wanted made; }

test_expect_success 'the chart makes the same objects, rights and settings as the base' '
    render --set rbac.namespaces=true,rbac.nodeGroups=true,rbac.tokens=true,adopt.create=true,adopt.suspendPolicy=true >chart.yaml &&
    json chart.yaml >made.json && comparable made.json >made && compare_with "$base" && [ "$(jq -s ".[0] | length" made)" -ge 16 ] && [ "$(jq -s ".[1] | length" made)" -ge 7 ]
'

test_expect_success 'a job namespace of the chart has the labels of the base'\''s' '
    render --set jobNamespace.create=true,config.kube.namespace=jobs >chart.yaml && json chart.yaml >made.json &&
    jq -c "map(select(.kind == \"Namespace\"))[0] | [.metadata.name, .metadata.annotations[\"helm.sh/resource-policy\"],
        (.metadata.labels | with_entries(select(.key | startswith(\"pod-security\"))))]" made.json >labels &&
    jq -c "map(select(.kind == \"Namespace\"))[0] | [\"jobs\", \"keep\", .metadata.labels]" base.json >expected &&
    test_cmp expected labels
'

test_expect_success 'the comparison detects a verb, a field, a setting and an object that only the base has' '
    compare_with "$base" && n=0 && for change in "rbac.yaml s/verbs: .get, create]/verbs: [get]/" "namespaces.yaml s/create]} # limits/get]}/" \
        "rbac-node-groups.yaml s/verbs: .patch]/verbs: [update]/" "broker.yaml s/periodSeconds: 5,/periodSeconds: 6,/" \
        "networkpolicy.yaml s/port: 7717/port: 7716/" "fluxq.yaml s/lease: true/lease: false/" "disruption.yaml s/1000000/1000/" \
        "kustomization.yaml s/^- disruption.yaml//" "adopt.yaml s/operations: .CREATE, UPDATE/operations: [CREATE/"; do
        rm -rf changed && cp -R "$base" changed && sed -i "${change#* }" "changed/${change%% *}" &&
        ! cmp -s "changed/${change%% *}" "$base/${change%% *}" && "$kubectl" kustomize changed >/dev/null &&
        ! compare_with changed >difference 2>&1 && grep "^[-+]" difference && n=$((n + 1)) || return 1
    done && [ $n = 9 ]
'

# ---- the settings ----

cat >settings.yaml <<\END
config:
  cluster-id: hpc
  array-max: 1000000
  operators: [ops, "007"]
  priority: {fair-share: 3000, half-life: 7d}
  kube:
    image: busybox:1
    topology: [{level: rack, label: example.org/rack}]
  queues:
    batch: null
    main: {max-time: 1d, pods: {tolerations: [{key: a, operator: Exists, effect: NoSchedule}]}}
    debug: {default: true, max-nodes: 2}
END

test_expect_success 'values are merged over the default settings, null removes a setting, and the broker accepts the result' '
    render --values settings.yaml >chart.yaml && json chart.yaml >made.json && settings made.json >made &&
    cat fluxq.yaml && fluxqd --check --config fluxq.yaml &&
    jq -e ".[\"cluster-id\"] == \"hpc\" and .[\"array-max\"] == 1000000 and .operators == [\"ops\", \"007\"] and
        .kube == {lease: true, namespace: \"hpc-jobs\", image: \"busybox:1\", topology: [{level: \"rack\", label: \"example.org/rack\"}]} and
        (.queues | keys) == [\"debug\", \"main\"] and .executor == \"kube\"" made &&
    render >chart.yaml && json chart.yaml >made.json && settings made.json >made && fluxqd --check --config fluxq.yaml
'

checksum() { render "$@" | sed -n 's,^ *checksum/config: ,,p'; }
test_expect_success 'the pod changes exactly when the settings change' '
    first=$(checksum) && [ ${#first} = 64 ] && [ "$(checksum --set labels.team=hpc,service.type=NodePort)" = "$first" ] &&
    [ "$(checksum --set config.log-level=debug)" != "$first" ] && [ "$(checksum --set config.kube.lease=false)" != "$first" ]
'

# ---- several releases ----

names() { jq -r '.[] | "\(.kind) \(.metadata.namespace // "-") \(.metadata.name)"' "$1" | sort; }
test_expect_success 'releases share no object and no cluster-id, in one namespace and with a common job namespace' '
    : >all && : >ids && n=0 && for release in "fluxq fluxq" "hpc fluxq" "fluxq hpc" "fluxq test" "fluxq-a b" "fluxq a-b" "fluxq-a-b c"; do
        "$KUBE/helm-template" --release ${release% *} --namespace ${release#* } --set config.kube.namespace=jobs,jobNamespace.create=false \
            --set rbac.namespaces=true,rbac.nodeGroups=true,rbac.tokens=true "$chart" >chart.yaml &&
        json chart.yaml >made.json && names made.json >>all && settings made.json | jq -r ".[\"cluster-id\"]" >>ids &&
        fluxqd --check --config fluxq.yaml && n=$((n + 1)) || return 1
    done && [ $n = 7 ] && sort all | uniq -d >twice && ! [ -s twice ] && sort ids | uniq -d >twice && ! [ -s twice ] && cat ids &&
    [ "$(wc -l <all)" -eq $((n * 18)) ]
'

test_expect_success 'neither base nor chart gives the broker rights in its own namespace, where the MUNGE key is' '
    render >chart.yaml && json chart.yaml >made.json && for objects in made.json base.json; do
        jq -e "[.[] | select(.kind == \"RoleBinding\").metadata.namespace] | unique == [\"fluxq-jobs\"]" $objects &&
        jq -e "[.[] | select(.kind == \"Deployment\").metadata.namespace] == [\"fluxq\"]" $objects || return 1
    done && jq -s ".[0] + .[1]" made.json rights.json |
        jq -e "[.[] | select(.kind == \"ClusterRole\" and (.metadata.name | test(\"runner\") | not)).rules[] | select(.resources | index(\"secrets\"))] == []"
'

test_expect_success 'each of two releases in one namespace selects its own broker and its own jobs' '
    for release in one two; do
        render --release $release >chart.yaml && json chart.yaml >$release.json || return 1
    done &&
    for what in ".kind == \"Service\").spec.selector" ".kind == \"Deployment\").spec.selector" \
        ".kind == \"NetworkPolicy\").spec.podSelector" ".kind == \"PodDisruptionBudget\").spec.selector"; do
        jq -c ".[] | select($what" one.json >selects && [ -s selects ] && jq -c ".[] | select($what" two.json >>selects &&
        [ -z "$(sort selects | uniq -d)" ] || return 1
    done
'

# ---- each value ----

cat >all.yaml <<\END
fullnameOverride: batch
labels: {team: hpc}
annotations: {example.org/owner: ops}
image: {repository: registry.example.org/hpc/fluxq, tag: "2", pullPolicy: Always, pullSecrets: [registry]}
config: {listen: "10.0.0.1:7718", listen-names: ["10.9.8.7"], kube: {namespace: jobs}}
jobNamespace: {create: true, podSecurity: baseline}
jobNamespaces: [more, jobs]
rbac: {namespaces: true, nodeGroups: true}
serviceAccount: {name: robot, annotations: {example.org/role: r}}
munge: {secret: key, resources: {limits: {memory: 1Gi}}}
users: {configMap: accounts}
state: {size: 20Gi, storageClass: fast, accessMode: ReadWriteOncePod, keep: false}
service: {type: NodePort, nodePort: 30718, annotations: {example.org/lb: inner}}
networkPolicy: {apiServers: [10.1.0.0/16], loginNodes: [10.2.0.0/16, "fd00::/8"]}
podLabels: {tier: batch}
podAnnotations: {example.org/scrape: "true"}
resources: {limits: {cpu: "7"}}
nodeSelector: {disk: ssd}
tolerations: [{key: infra, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}
priorityClassName: important
extraVolumes: [{name: pipes, emptyDir: {}}]
extraVolumeMounts: [{name: pipes, mountPath: /var/lib/sss/pipes}]
sidecars: [{name: sssd, image: sssd}]
END

# Short forms for jq: an object of this kind (o), the pod (pod), its container (c).
cat >expected.jq <<\END
o("Deployment") | .metadata.name == "batch" and .metadata.labels.team == "hpc" and .metadata.annotations["example.org/owner"] == "ops"
all(.[]; .metadata.labels.team == "hpc" and .metadata.annotations["example.org/owner"] == "ops")
[pod.containers[0], pod.initContainers[0]] | all(.image == "registry.example.org/hpc/fluxq:2" and .imagePullPolicy == "Always")
pod.imagePullSecrets == [{name: "registry"}]
o("ConfigMap").data["fluxq.yaml"] | contains("listen: 10.0.0.1:7718\n") and contains("  namespace: jobs\n")
o("ConfigMap").data["fluxq.yaml"] | contains("listen-names:\n- batch.fluxq\n- batch.fluxq.svc\n- batch.fluxq.svc.cluster.local\n- 10.9.8.7\n")
o("Namespace") | .metadata.name == "jobs" and .metadata.labels["pod-security.kubernetes.io/enforce"] == "baseline"
[.[] | select(.kind == "RoleBinding" and .roleRef.name == "fluxq.batch-runner") | "\(.metadata.namespace)/\(.metadata.name)"] == ["jobs/fluxq.batch-runner", "more/fluxq.batch-runner"]
[.[] | select(.kind == "RoleBinding" and .roleRef.name == "fluxq.batch-provisioner") | .metadata.namespace] == ["jobs"]
[.[] | select(.kind == "ClusterRoleBinding").roleRef.name] == ["fluxq.batch-namespaces", "fluxq.batch-observer"]
[.[] | select(.kind == "ClusterRole") | .rules[] | select(.resourceNames).resourceNames] == [["fluxq.batch-runner"]]
[.[] | select(.kind | endswith("Binding")) | .subjects] | unique == [[{kind: "ServiceAccount", name: "robot", namespace: "fluxq"}]]
o("ServiceAccount") | .metadata.name == "robot" and .metadata.annotations["example.org/role"] == "r" and .metadata.annotations["example.org/owner"] == "ops"
pod.serviceAccountName == "robot"
[pod.volumes[] | select(.secret).secret.secretName] == ["key"]
pod.initContainers[0].resources == {limits: {memory: "1Gi"}, requests: {cpu: "10m", memory: "32Mi"}}
[pod.volumes[] | select(.name == "users").configMap.name] == ["accounts"]
[c.volumeMounts[] | select(.name == "users").mountPath] == ["/etc/passwd", "/etc/group"]
o("PersistentVolumeClaim") | .spec == {accessModes: ["ReadWriteOncePod"], resources: {requests: {storage: "20Gi"}}, storageClassName: "fast"}
o("PersistentVolumeClaim").metadata.annotations["helm.sh/resource-policy"] == null
o("Service") | .spec.type == "NodePort" and .spec.ports[0].nodePort == 30718 and .metadata.annotations["example.org/lb"] == "inner"
[.[] | select(.kind == "NetworkPolicy") | "\(.metadata.namespace)/\(.metadata.name)"] | sort == ["fluxq/batch-broker", "jobs/fluxq.batch-jobs", "more/fluxq.batch-jobs"]
[.[] | select(.kind == "NetworkPolicy" and .metadata.namespace != "fluxq").spec.ingress[0].from] | unique == [[{ipBlock: {cidr: "10.1.0.0/16"}}]]
[.[] | select(.kind == "NetworkPolicy" and .metadata.namespace == "fluxq").spec.ingress[].from[].ipBlock.cidr] == ["10.2.0.0/16", "fd00::/8"]
[.[] | select(.kind == "PodDisruptionBudget").metadata.namespace] | sort == ["jobs", "more"]
o("Deployment").spec.template.metadata | .labels.tier == "batch" and .labels.team == "hpc" and .annotations["example.org/scrape"] == "true"
c.resources == {limits: {cpu: "7", memory: "2Gi"}, requests: {cpu: "250m", memory: "128Mi"}}
pod.nodeSelector == {disk: "ssd"} and pod.tolerations == [{key: "infra", operator: "Exists"}]
pod.affinity == {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}} and pod.priorityClassName == "important"
[pod.volumes[] | select(.name == "pipes").emptyDir] == [{}] and [c.volumeMounts[] | select(.name == "pipes").mountPath] == ["/var/lib/sss/pipes"]
pod.initContainers[1] == {name: "sssd", image: "sssd", restartPolicy: "Always"} and (pod.initContainers | length) == 2
END

# has FILE EXPRESSION: EXPRESSION is true for the array of objects in FILE.
has()
{
    jq -e "def o(\$kind): map(select(.kind == \$kind))[0]; def pod: o(\"Deployment\").spec.template.spec; def c: pod.containers[0]; $2" \
        "$1" >/dev/null || { echo "not so: $2" && return 1; }
}
test_expect_success 'each value appears in the objects' '
    render --lint --values all.yaml && render --values all.yaml >chart.yaml && json chart.yaml >made.json && names made.json &&
    while read -r expression; do
        has made.json "$expression" || return 1
    done <expected.jq && [ "$(wc -l <expected.jq)" -ge 30 ]
'

# makes SET EXPRESSION: with the values SET, EXPRESSION is true for the objects.
makes() { render --set "$1" >chart.yaml && json chart.yaml >made.json && has made.json "$2"; }
kinds() { echo "([.[].kind] | index(\"$1\")) == null"; }
test_expect_success 'a disabled part has no objects' '
    makes rbac.create=false,rbac.namespaces=true,rbac.nodeGroups=true,rbac.tokens=true "all(.[]; .kind | test(\"Role\") | not)" &&
    makes serviceAccount.create=false,serviceAccount.name=mine "$(kinds ServiceAccount) and pod.serviceAccountName == \"mine\"" &&
    makes networkPolicy.enabled=false "$(kinds NetworkPolicy)" &&
    makes podDisruptionBudget.enabled=false "$(kinds PodDisruptionBudget)" &&
    makes state.existingClaim=disk "$(kinds PersistentVolumeClaim) and [pod.volumes[].persistentVolumeClaim.claimName | values] == [\"disk\"]" &&
    makes state.storageClass= "o(\"PersistentVolumeClaim\").spec.storageClassName == \"\"" &&
    makes global.anything=1 "length == 13"
'

test_expect_success 'with adoption there are rights in each namespace, and a policy for users who may name owners' '
    makes "adopt.create=true,adopt.namespaces={team-a,team-b},adopt.owners.users={portal}" "
        ([.[] | select(.kind == \"RoleBinding\" and .roleRef.name == \"fluxq.fluxq-adopter\").metadata.namespace] == [\"team-a\", \"team-b\"]) and
        ([o(\"ValidatingAdmissionPolicy\").spec.variables[0, 1].expression] == [\"[\\\"portal\\\"]\", \"[\\\"fluxq:owners\\\"]\"]) and
        $(kinds MutatingAdmissionPolicy)" &&
    makes adopt.create=true,rbac.create=false "all(.[]; .kind | test(\"Role\") | not) and ($(kinds ValidatingAdmissionPolicy) | not)" &&
    makes adopt.create=false "$(kinds ValidatingAdmissionPolicy)"
'

test_expect_success 'the notes name the objects, and the objects that stay' '
    render --release hpc --notes >notes && grep "deploy/hpc-fluxq " notes && grep "claim hpc-fluxq-state with the journal" notes &&
    render --notes --set rbac.namespaces=true,state.keep=false >notes && grep "namespace-role: fluxq.fluxq-runner" notes &&
    ! grep "the claim" notes
'

# ---- refused values ----

# refused SET REASON: the values SET are refused with REASON.
refused()
{
    ! render --set "$1" >made 2>refusal && grep -e "$2" refusal && ! [ -s made ] || { echo "not refused so: $1" && cat refusal && return 1; }
}
test_expect_success 'an unknown value is refused at every level' '
    n=0 && for place in "" image. jobNamespace. rbac. serviceAccount. munge. users. state. service. networkPolicy. podDisruptionBudget. adopt. adopt.owners.; do
        refused "${place}nothing=1" "additional properties .nothing. not allowed" && n=$((n + 1)) || return 1
    done && [ $n = "$(jq "[.. | objects | select(.additionalProperties == false)] | length" "$chart/values.schema.json")" ]
'

test_expect_success 'the schema requires all its values except those that may be null, so values.yaml has each of them' '
    jq -c "[.. | objects | select(.additionalProperties == false) | (.properties | keys) - .required] | add" "$chart/values.schema.json" >optional &&
    echo "[\"global\",\"storageClass\",\"nodePort\"]" | jq -c sort >expected && jq -c sort optional | test_cmp expected -
'

test_expect_success 'a wrong value is refused with its name' '
    refused config.executor=local "config.executor: the chart sets it" && refused config.state-dir=/x "config.state-dir: the chart sets it" &&
    refused config.listen=0.0.0.0:80 "config.listen: .*the pod.s port is 7718" && refused config.cluster-id=A_b "/config/cluster-id" &&
    refused config=null config && refused config.kube.namespace=A_b "/config/kube/namespace" &&
    refused service.nodePort=30718 "service.nodePort: .*service.type" && refused service.type=ExternalName "/service/type" &&
    refused config.kube.namespace=fluxq "jobNamespace.create: config.kube.namespace.* MUNGE key" &&
    refused serviceAccount.create=false "serviceAccount.name: " && refused fullnameOverride=A "A: not a name .*fullnameOverride" &&
    refused "labels.app\\.kubernetes\\.io/name=x" "app.kubernetes.io/name" && refused "podLabels.fluxq\\.io/job-id=1" "fluxq.io/job-id" &&
    refused image.pullPolicy=Sometimes "/image/pullPolicy" && refused "networkPolicy.apiServers={all}" "/networkPolicy/apiServers" &&
    refused state.size=big "/state/size"
'

test_expect_success 'a cluster version without sidecars is refused' '
    ! render --kube-version v1.28.9 2>refusal && grep "wants Kubernetes >=1.29" refusal && render --kube-version v1.29.0 >made && [ -s made ]
'

test_done
