{{/* What the objects are called. In other namespaces and for the cluster's own objects the namespace
comes first: a dot is in the name of no namespace, so no two releases have one name. */}}

{{- define "fluxq.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains "fluxq" $name) }}{{ $name = printf "%s-fluxq" $name }}{{ end -}}
{{- $name = .Values.fullnameOverride | default $name -}}
{{- if not (and (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) (le (len $name) 60)) -}}
{{- fail (printf "%s: not a name that a Service may have (a-z, 0-9, -, at most 60 characters): set fullnameOverride" $name) -}}
{{- end -}}
{{- $name -}}
{{- end }}

{{- define "fluxq.clusterName" -}}
{{ .Release.Namespace }}.{{ include "fluxq.name" . }}
{{- end }}

{{- /* For (list . NAMESPACE). */}}
{{- define "fluxq.nameIn" -}}
{{- $root := index . 0 -}}
{{- include (ternary "fluxq.name" "fluxq.clusterName" (eq (index . 1) $root.Release.Namespace)) $root -}}
{{- end }}

{{- define "fluxq.serviceAccount" -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- fail "serviceAccount.name: without serviceAccount.create it must say which one the broker is" -}}
{{- end -}}
{{- .Values.serviceAccount.name | default (include "fluxq.name" .) -}}
{{- end }}

{{- define "fluxq.claim" -}}
{{- .Values.state.existingClaim | default (printf "%s-state" (include "fluxq.name" .)) -}}
{{- end }}

{{- define "fluxq.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* By which the broker's pod is found. */}}
{{- define "fluxq.brokerLabels" -}}
app.kubernetes.io/name: fluxq
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: broker
{{- end }}

{{- /* Those of this release's jobs, as a pod selector. */}}
{{- define "fluxq.jobSelector" -}}
matchLabels:
  app.kubernetes.io/managed-by: fluxq
  fluxq.io/cluster: {{ include "fluxq.clusterId" . | quote }}
matchExpressions: [{key: fluxq.io/job-id, operator: Exists}]
{{- end }}

{{- /* Annotations and labels of an object, for (list . ANNOTATIONS), these being the chart's own. A template
may add a label below. */}}
{{- define "fluxq.metadata" -}}
{{- $root := index . 0 -}}
{{- with mergeOverwrite (deepCopy $root.Values.annotations) (index . 1) }}annotations:
  {{- toYaml . | nindent 2 }}
{{ end -}}
labels:
  {{- with $root.Values.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  app.kubernetes.io/name: fluxq
  app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
  app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ $root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}
