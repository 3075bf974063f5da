{{- define "simulated.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name | trunc 63 | quote }}
app.kubernetes.io/instance: {{ .Release.Name | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
headgate.dev/simulated: "true"
{{- end -}}

{{- /* Any value may come out of a Secret: what is shown of them are the keys, and whether something is on. */ -}}
{{- define "simulated.shape" -}}
{{- range $key, $value := . }}
{{ $key }}:
{{- if kindIs "map" $value }}{{ include "simulated.shape" $value | trim | nindent 2 }}
{{- else if kindIs "bool" $value }} {{ $value }}
{{- else if kindIs "slice" $value }} ({{ len $value }} items)
{{- else if kindIs "invalid" $value }} (nothing)
{{- else }} (a value)
{{- end }}
{{- end }}
{{- end -}}
