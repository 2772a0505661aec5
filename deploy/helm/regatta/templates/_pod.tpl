{{- /* Everything that pods of workers and of `regatta run` have in common. */}}

{{- define "regatta.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "regatta.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "regatta.env" -}}
- name: HOME
  value: /tmp
- name: NODE_OPTIONS
  value: --max-old-space-size-percentage={{ .Values.heapPercentage }} --max-semi-space-size=8
{{- with .Values.temporal.apiKey }}
{{- if .secret }}
- name: TEMPORAL_API_KEY
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}}
{{- end }}
{{- end }}
{{- end }}

{{- define "regatta.envFrom" -}}
- configMapRef: {name: {{ include "regatta.fullname" . }}}
{{- range .Values.envFromSecrets }}
- secretRef: {name: {{ . }}}
{{- end }}
{{- with .Values.store.s3.secret }}
- secretRef: {name: {{ . }}}
{{- end }}
{{- end }}

{{- define "regatta.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .Values.store.claim }}
- {name: store, mountPath: {{ .Values.store.address }}}
{{- end }}
{{- with .Values.temporal.tls }}
{{- if .clientCert.secret }}
- {name: temporal-client, mountPath: /var/run/temporal/client, readOnly: true}
{{- end }}
{{- if .ca.secret }}
- {name: temporal-ca, mountPath: /var/run/temporal/ca, readOnly: true}
{{- end }}
{{- end }}
{{- end }}

{{- define "regatta.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if .Values.store.claim }}
- name: store
  persistentVolumeClaim: {claimName: {{ .Values.store.claim }}}
{{- end }}
{{- with .Values.temporal.tls }}
{{- if .clientCert.secret }}
- name: temporal-client
  secret: {secretName: {{ .clientCert.secret }}}
{{- end }}
{{- if .ca.secret }}
- name: temporal-ca
  secret: {secretName: {{ .ca.secret }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "regatta.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
