{{/* The program gives this name to its webhook configurations; it is no value. */}}
{{- define "application.name" -}}
gardener-extension-admission-openstack-fabric
{{- end -}}

{{- define "application.labels" -}}
app.kubernetes.io/name: {{ include "application.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: openstack-fabric
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: admission-openstack-fabric-{{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
