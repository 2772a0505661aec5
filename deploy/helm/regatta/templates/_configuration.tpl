{{- define "regatta.configuration" -}}
{{- $t := .Values.temporal -}}
TEMPORAL_ADDRESS: {{ $t.address | quote }}
TEMPORAL_NAMESPACE: {{ $t.namespace | quote }}
{{- if include "regatta.hasTls" . }}
TEMPORAL_TLS: "true"
{{- end }}
{{- with $t.tls.serverName }}
TEMPORAL_TLS_SERVER_NAME: {{ . | quote }}
{{- end }}
{{- if $t.tls.clientCert.secret }}
TEMPORAL_TLS_CLIENT_CERT_PATH: /var/run/temporal/client/tls.crt
TEMPORAL_TLS_CLIENT_KEY_PATH: /var/run/temporal/client/tls.key
{{- end }}
{{- if $t.tls.ca.secret }}
TEMPORAL_TLS_SERVER_CA_CERT_PATH: /var/run/temporal/ca/{{ $t.tls.ca.key }}
{{- end }}
{{- with .Values.store.s3.endpoint }}
AWS_ENDPOINT_URL: {{ . | quote }}
{{- end }}
{{- with .Values.store.s3.region }}
AWS_REGION: {{ . | quote }}
{{- end }}
{{- range $name, $value := .Values.env }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}
