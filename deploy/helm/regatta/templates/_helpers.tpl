{{- define "regatta.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "regatta.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "regatta.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "regatta.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "regatta.selector" -}}
app.kubernetes.io/name: {{ include "regatta.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "regatta.labels" -}}
{{ include "regatta.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "regatta.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "regatta.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "regatta.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* The role that is scaled: it has the slots. */}}
{{- define "regatta.scaledRole" -}}
{{- if .Values.workers.activities.enabled }}activities{{ else }}all{{ end }}
{{- end }}

{{- define "regatta.isScaled" -}}
{{- if or .Values.autoscaling.hpa.enabled .Values.autoscaling.keda.enabled }}true{{ end }}
{{- end }}

{{- define "regatta.isBucket" -}}
{{- if hasPrefix "s3://" .Values.store.address }}true{{ end }}
{{- end }}

{{- define "regatta.hasTls" -}}
{{- with .Values.temporal }}
{{- if or .tls.enabled .tls.clientCert.secret .apiKey.secret .tls.ca.secret }}true{{ end }}
{{- end }}
{{- end }}

{{- /* What the providers bear, divided by the slots of a pod. */}}
{{- define "regatta.maxReplicas" -}}
{{- $slots := (index .Values.workers (include "regatta.scaledRole" .)).slots }}
{{- with .Values.autoscaling }}
{{- if .maxReplicas }}{{ .maxReplicas | int }}
{{- else }}{{ max 1 (int .minReplicas) (ceil (divf .callsInFlight $slots) | int) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Open runs that one pod should have. */}}
{{- define "regatta.targetRuns" -}}
{{- $slots := (index .Values.workers (include "regatta.scaledRole" .)).slots }}
{{- max 1 (floor (mulf $slots .Values.autoscaling.targetUtilisation) | int) }}
{{- end }}

{{- define "regatta.scaleDown" -}}
scaleDown:
  stabilizationWindowSeconds: {{ .Values.autoscaling.scaleDownStabilizationSeconds }}
  policies:
    - type: Percent
      value: 20
      periodSeconds: 60
    - type: Pods
      value: 1
      periodSeconds: 60
{{- end }}
