{{/* The broker's settings: the values' config with what the chart itself sets. */}}

{{- define "fluxq.clusterId" -}}
{{- $name := include "fluxq.name" . -}}
{{- $namespace := .Release.Namespace -}}
{{- $digest := printf "%s.%s" $namespace $name | sha256sum | trunc 8 -}}
{{- $own := printf "%s-%s" ($name | trunc 11 | trimSuffix "-") $digest -}}
{{- if and (eq $name "fluxq") (le (len $namespace) 20) }}{{ $own = $namespace }}{{ end -}}
{{- index .Values.config "cluster-id" | default $own -}}
{{- end }}

{{- define "fluxq.jobNamespace" -}}
{{- (.Values.config.kube | default dict).namespace | default (printf "%s-jobs" (include "fluxq.clusterId" .)) -}}
{{- end }}

{{- /* All namespaces where jobs run, as a list in YAML. */}}
{{- define "fluxq.jobNamespaces" -}}
{{- prepend .Values.jobNamespaces (include "fluxq.jobNamespace" .) | uniq | toYaml -}}
{{- end }}

{{- define "fluxq.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- /* The paths are those of broker.yaml. */}}
{{- $own := dict "executor" "kube" "state-dir" "/var/lib/fluxq/state" "runtime-dir" "/run/fluxq/broker"
    "munge-socket" "/run/munge/munge.socket.2" -}}
{{- range $key, $value := $own -}}
{{- if hasKey $config $key }}{{ fail (printf "config.%s: the chart sets it, to %s: leave it out" $key $value) }}{{ end -}}
{{- $_ := set $config $key $value -}}
{{- end -}}
{{- $listen := $config.listen | default "0.0.0.0:7718" -}}
{{- if not (hasSuffix ":7718" $listen) -}}
{{- fail (printf "config.listen: %s: the pod's port is 7718: say ADDRESS:7718, or leave it out" $listen) -}}
{{- end -}}
{{- if and (not (hasKey $config "tls")) (not (hasKey $config "tls-certificate")) }}{{ $_ := set $config "tls" "off" }}{{ end -}}
{{- /* The names of the Service; its address is known only when it is there. */}}
{{- $host := printf "%s.%s" (include "fluxq.name" .) .Release.Namespace -}}
{{- $names := list $host (printf "%s.svc" $host) (printf "%s.svc.cluster.local" $host) -}}
{{- $names = concat $names (index $config "listen-names" | default list) | uniq -}}
{{- $kube := set ($config.kube | default dict) "namespace" (include "fluxq.jobNamespace" .) -}}
{{- $config = mergeOverwrite $config (dict "listen" $listen "listen-names" $names "kube" $kube "cluster-id" (include "fluxq.clusterId" .)) -}}
# The settings of the broker in the cluster, see fluxq.yaml(5): the value config of this release.
{{ toYaml $config }}
{{- end }}
