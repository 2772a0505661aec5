{{- /* What a schema cannot say. Every refusal is a sentence that says what to do. */}}
{{- define "regatta.checks" -}}
{{- $v := .Values }}
{{- $t := $v.temporal }}
{{- $keda := $v.autoscaling.keda }}
{{- if lt (int $v.graceSeconds) (add 15 $v.callTimeoutSeconds | int) }}
{{- fail (printf "graceSeconds (%d) must be at least callTimeoutSeconds and 15 s (%d), or a drain cuts calls off." (int $v.graceSeconds) (add 15 $v.callTimeoutSeconds)) }}
{{- end }}
{{- if not (or $v.workers.all.enabled (and $v.workers.workflows.enabled $v.workers.activities.enabled)) }}
{{- fail "The queue needs both halves: enable workers.workflows and workers.activities, or workers.all." }}
{{- end }}
{{- if include "regatta.isBucket" . }}
{{- if $v.store.claim }}
{{- fail "store.claim is for a folder: leave it empty, or let store.address be a path." }}
{{- end }}
{{- else if not $v.store.claim }}
{{- fail "store.address is a folder, so store.claim must name a volume claim that all pods share (ReadWriteMany)." }}
{{- end }}
{{- if and $t.apiKey.secret $t.tls.clientCert.secret }}
{{- fail "temporal.apiKey and temporal.tls.clientCert are two ways to be let in: choose one." }}
{{- end }}
{{- if and $t.apiKey.secret (regexMatch "\\.tmprl\\.cloud:[0-9]+$" $t.address) }}
{{- fail (printf "%s is the address for client certificates: with an API key use the regional one, REGION.CLOUD.api.temporal.io:7233." $t.address) }}
{{- end }}
{{- range $name, $_ := $v.env }}
{{- if has $name (list "TEMPORAL_API_KEY" "AWS_SECRET_ACCESS_KEY" "AWS_ACCESS_KEY_ID" "AWS_SESSION_TOKEN") }}
{{- fail (printf "env.%s would put a secret into a ConfigMap: name an existing secret instead." $name) }}
{{- end }}
{{- end }}
{{- if and $v.autoscaling.hpa.enabled $keda.enabled }}
{{- fail "autoscaling.hpa and autoscaling.keda exclude each other: KEDA makes an HPA of its own." }}
{{- end }}
{{- if include "regatta.isScaled" . }}
{{- if not (or $v.autoscaling.maxReplicas $v.autoscaling.callsInFlight) }}
{{- fail "Say how far to scale: autoscaling.callsInFlight (what the providers bear at once) or autoscaling.maxReplicas." }}
{{- end }}
{{- if gt (int $v.autoscaling.minReplicas) (include "regatta.maxReplicas" . | int) }}
{{- fail "autoscaling.minReplicas is more than autoscaling.maxReplicas." }}
{{- end }}
{{- end }}
{{- if and $v.autoscaling.hpa.enabled (eq (int $v.autoscaling.minReplicas) 0) }}
{{- fail "An HPA does not scale from zero: set autoscaling.minReplicas to 1 or more, or use KEDA." }}
{{- end }}
{{- if and $v.autoscaling.hpa.enabled (not (regexMatch "^[A-Za-z0-9]([\\w.-]{0,61}[A-Za-z0-9])?$" $v.queue)) }}
{{- fail (printf "An HPA finds its metric by the queue's name, and %s is no value of a label: use letters, digits, dots and dashes." $v.queue) }}
{{- end }}
{{- if $keda.enabled }}
{{- if not $keda.prometheusAddress }}
{{- fail "autoscaling.keda.prometheusAddress is needed: Temporal's backlog is zero while workers keep up, so only Prometheus can tell that they are busy." }}
{{- end }}
{{- if and $t.tls.enabled (not $t.apiKey.secret) (not $t.tls.clientCert.secret) }}
{{- fail "KEDA speaks TLS to Temporal only with an API key or a client certificate: set one, or scale with an HPA." }}
{{- end }}
{{- if and $t.apiKey.secret $t.tls.ca.secret (not $keda.operatorTrustsCa) }}
{{- fail "KEDA ignores temporal.tls.ca beside an API key: add it to the operator's own authorities and set autoscaling.keda.operatorTrustsCa." }}
{{- end }}
{{- end }}
{{- if and $v.metrics.dashboards.enabled (not $v.metrics.dashboards.labels) }}
{{- fail "metrics.dashboards.labels is empty: without the label that Grafana's sidecar looks for, nobody finds the dashboards." }}
{{- end }}
{{- end }}
