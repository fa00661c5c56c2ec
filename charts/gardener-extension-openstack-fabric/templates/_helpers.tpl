{{/* The program gives this name to its Service, lease and webhook configurations; it is no value. */}}
{{- define "name" -}}
gardener-extension-openstack-fabric
{{- end -}}

{{- define "selector" -}}
app.kubernetes.io/name: {{ include "name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/part-of: openstack-fabric
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: openstack-fabric-{{ .Chart.Version }}
{{- end -}}

{{/* For what the program fills in: gardener-resource-manager, which would undo that, leaves it alone. */}}
{{- define "filledIn" -}}
resources.gardener.cloud/mode: Ignore
{{- end -}}

{{- define "image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{ .Values.image.repository }}{{ if hasPrefix "sha256:" $tag }}@{{ else }}:{{ end }}{{ $tag }}
{{- end -}}

{{/* YAML reads a bare off as false. */}}
{{- define "dynamic" -}}
{{ .Values.dynamicValidation.mode | toString | replace "false" "off" }}
{{- end -}}

{{/* What is served, as names of webhooks. */}}
{{- define "webhooks" -}}
{{- $served := list -}}
{{- range list "infrastructure" "cloudprovider" -}}
{{- if not (has . $.Values.disableWebhooks) }}{{ $served = append $served . }}{{ end -}}
{{- end -}}
{{ join "," $served }}
{{- end -}}

{{/* By name where one is given, else by place in the list, as in Gardener's charts. */}}
{{- define "metricsPort" -}}
{{ .Values.metricsPort | default (index .Values.usablePorts 0) | int }}
{{- end -}}

{{- define "serverPort" -}}
{{ .Values.webhookConfig.serverPort | default (index .Values.usablePorts 1) | int }}
{{- end -}}

{{- define "healthPort" -}}
{{ .Values.healthPort | default (index .Values.usablePorts 2) | int }}
{{- end -}}

{{/* gardener-operator writes "true", a text. */}}
{{- define "priorityClassName" -}}
{{ eq (toString .Values.gardener.runtimeCluster.enabled) "true" | ternary .Values.gardener.runtimeCluster.priorityClassName "gardener-system-900" }}
{{- end -}}
