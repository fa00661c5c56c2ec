{{/* The program gives this name to its Service, lease and webhook configurations; it is no value. */}}
{{- define "runtime.name" -}}
gardener-extension-admission-openstack-fabric
{{- end -}}

{{- define "runtime.selector" -}}
app.kubernetes.io/name: {{ include "runtime.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "runtime.labels" -}}
{{ include "runtime.selector" . }}
app.kubernetes.io/part-of: openstack-fabric
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: admission-openstack-fabric-{{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* For what the program fills in: gardener-resource-manager, which would undo that, leaves it alone. */}}
{{- define "runtime.filledIn" -}}
resources.gardener.cloud/mode: Ignore
{{- end -}}

{{- define "runtime.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{ .Values.image.repository }}{{ if hasPrefix "sha256:" $tag }}@{{ else }}:{{ end }}{{ $tag }}
{{- end -}}

{{/* Where the kubeconfig of another garden is; empty: the garden is the program's own cluster. */}}
{{- define "runtime.kubeconfig" -}}
{{- if .Values.kubeconfig -}}
/etc/gardener-extension-admission-openstack-fabric/kubeconfig/kubeconfig
{{- else if .Values.projectedKubeconfig -}}
{{ trimSuffix "/" .Values.projectedKubeconfig.baseMountPath }}/kubeconfig
{{- else if .Values.gardener.virtualCluster.enabled -}}
{{/* gardener-operator adds this variable, and the volume that it leads to. */ -}}
$(GARDEN_KUBECONFIG)
{{- end -}}
{{- end -}}

{{- define "runtime.mode" -}}
{{- if ne .Values.webhookConfig.mode "auto" -}}
{{ .Values.webhookConfig.mode }}
{{- else if .Values.webhookConfig.url -}}
url
{{- else if include "runtime.kubeconfig" . -}}
url-service
{{- else -}}
service
{{- end -}}
{{- end -}}

{{/* YAML reads a bare off as false. */}}
{{- define "runtime.dynamic" -}}
{{ .Values.dynamicValidation.mode | toString | replace "false" "off" }}
{{- end -}}
