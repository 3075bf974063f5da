{{/* Labels of everything. */}}
{{- define "headgate.labels" -}}
app.kubernetes.io/name: headgate
app.kubernetes.io/part-of: headgate
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Name of the Deployment of a shard, given as a list of the root and the shard. */}}
{{- define "headgate.name" -}}
{{- $shard := index . 1 -}}
headgate{{ if $shard }}-{{ $shard }}{{ end }}
{{- end }}

{{/* Whether the API of Argo CD is served: "true" or nothing. */}}
{{- define "headgate.argocd" -}}
{{- if or (has "argocd" .Values.serve) (has "argoproj.io" .Values.serve) }}true{{ end -}}
{{- end }}

{{/* Whether Workflows are served: "true" or nothing. */}}
{{- define "headgate.workflows" -}}
{{- if or (has "workflows" .Values.serve) (has "workflows.argoproj.io" .Values.serve) }}true{{ end -}}
{{- end }}

{{/* The API groups of Crossplane's providers that are served, with commas between them, or nothing. */}}
{{- define "headgate.crossplane" -}}
{{- $all := list "kubernetes.crossplane.io" "kubernetes.m.crossplane.io" "digitalocean.crossplane.io" "digitalocean.m.crossplane.io" "custom.digitalocean.crossplane.io" "custom.digitalocean.m.crossplane.io" "droplet.digitalocean.crossplane.io" "droplet.digitalocean.m.crossplane.io" "networking.digitalocean.crossplane.io" "networking.digitalocean.m.crossplane.io" "ssh.digitalocean.crossplane.io" "ssh.digitalocean.m.crossplane.io" "do.crossplane.io" "compute.do.crossplane.io" }}
{{- $served := list }}
{{- range $group := $all }}
{{- if or (has "crossplane" $.Values.serve) (has $group $.Values.serve) }}{{ $served = append $served $group }}{{ end }}
{{- end }}
{{- join ", " $served -}}
{{- end }}

{{/* Whether Builds are served: "true" or nothing. */}}
{{- define "headgate.build" -}}
{{- if or (has "build" .Values.serve) (has "build.headgate.dev" .Values.serve) }}true{{ end -}}
{{- end }}

{{/* Whether External Secrets are served: "true" or nothing. */}}
{{- define "headgate.externalsecrets" -}}
{{- if or (has "external-secrets" .Values.serve) (has "external-secrets.io" .Values.serve) (has "generators.external-secrets.io" .Values.serve) }}true{{ end -}}
{{- end }}

{{/* Whether promotions are served: "true" or nothing. */}}
{{- define "headgate.kargo" -}}
{{- if or (has "kargo" .Values.serve) (has "kargo.akuity.io" .Values.serve) }}true{{ end -}}
{{- end }}

{{/* The image of the controller, which is also what runs the pods of Workflows. */}}
{{- define "headgate.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
