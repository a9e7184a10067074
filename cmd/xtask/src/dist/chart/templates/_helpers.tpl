{{- define "web.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "web.labels" -}}
app.kubernetes.io/name: {{ include "web.name" . }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- define "web.image" -}}
{{- $tag := .image.tag | default .appVersion | toString -}}
{{- if hasPrefix "sha256:" $tag }}{{ .image.repository }}@{{ $tag }}{{ else }}{{ printf "%s/%s:%s" .image.registry .image.repository $tag }}{{ end }}
{{- end }}
