import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderText } from './chart.ts';
import { findHelm } from './tools.ts';

const skip = (await findHelm()) === undefined ? 'helm cannot be had here: set HELM_PATH' : false;

type Refusal = {
  readonly what: string;
  readonly scenario: string;
  readonly set: readonly string[];
  readonly says: RegExp;
};

/** Values that would hurt, and the sentence that a person gets instead. */
const refusals: readonly Refusal[] = [
  {
    what: 'a drain that is shorter than a call',
    scenario: 'minimal',
    set: ['callTimeoutSeconds=300'],
    says: /graceSeconds \(135\) must be at least callTimeoutSeconds and 15 s \(315\), or a drain cuts calls off\./,
  },
  {
    what: 'a queue of which nobody plays a half',
    scenario: 'minimal',
    set: ['workers.workflows.enabled=false'],
    says: /The queue needs both halves: enable workers\.workflows and workers\.activities, or workers\.all\./,
  },
  {
    what: 'a folder that pods do not share',
    scenario: 'minimal',
    set: ['store.claim=""'],
    says: /store\.address is a folder, so store\.claim must name a volume claim that all pods share/,
  },
  {
    what: 'a volume claim beside a bucket',
    scenario: 's3',
    set: ['store.claim="sweeps"'],
    says: /store\.claim is for a folder: leave it empty, or let store\.address be a path\./,
  },
  {
    what: 'an API key beside a client certificate',
    scenario: 'mtls',
    set: ['temporal.apiKey.secret="key"'],
    says: /temporal\.apiKey and temporal\.tls\.clientCert are two ways to be let in: choose one\./,
  },
  {
    what: 'an API key at the address for certificates',
    scenario: 'cloud',
    set: ['temporal.address="sweeps.a1b2c.tmprl.cloud:7233"'],
    says: /sweeps\.a1b2c\.tmprl\.cloud:7233 is the address for client certificates: with an API key use the regional one/,
  },
  {
    what: 'a secret among plain variables',
    scenario: 'minimal',
    set: ['env.TEMPORAL_API_KEY="hunter2"'],
    says: /env\.TEMPORAL_API_KEY would put a secret into a ConfigMap: name an existing secret instead\./,
  },
  {
    what: 'an HPA beside KEDA',
    scenario: 'keda',
    set: ['autoscaling.hpa.enabled=true'],
    says: /autoscaling\.hpa and autoscaling\.keda exclude each other: KEDA makes an HPA of its own\./,
  },
  {
    what: 'to scale without an end',
    scenario: 'keda',
    set: ['autoscaling.callsInFlight=null'],
    says: /Say how far to scale: autoscaling\.callsInFlight \(what the providers bear at once\) or autoscaling\.maxReplicas\./,
  },
  {
    what: 'more pods at least than at most',
    scenario: 'hpa',
    set: ['autoscaling.minReplicas=13'],
    says: /autoscaling\.minReplicas is more than autoscaling\.maxReplicas\./,
  },
  {
    what: 'an HPA from zero',
    scenario: 'hpa',
    set: ['autoscaling.minReplicas=0'],
    says: /An HPA does not scale from zero: set autoscaling\.minReplicas to 1 or more, or use KEDA\./,
  },
  {
    what: 'an HPA on a queue that no label can name',
    scenario: 'hpa',
    set: ['queue="regatta.@desk/sweeps"'],
    says: /regatta\.@desk\/sweeps is no value of a label: use letters, digits, dots and dashes\./,
  },
  {
    what: 'KEDA without Prometheus',
    scenario: 'keda',
    set: ['autoscaling.keda.prometheusAddress=""'],
    says: /autoscaling\.keda\.prometheusAddress is needed: Temporal's backlog is zero while workers keep up/,
  },
  {
    what: 'KEDA with TLS and nothing to show',
    scenario: 'keda',
    set: ['temporal.tls={"enabled":true,"clientCert":{"secret":""},"ca":{"secret":""}}'],
    says: /KEDA speaks TLS to Temporal only with an API key or a client certificate/,
  },
  {
    what: 'KEDA with an API key and an authority that it would ignore',
    scenario: 's3',
    set: ['temporal.tls={"ca":{"secret":"temporal-ca"}}'],
    says: /KEDA ignores temporal\.tls\.ca beside an API key: add it to the operator's own authorities/,
  },
  { what: 'a run without an id', scenario: 'mtls', set: ['run.id=""'], says: /'\/run\/id': minLength/ },
  {
    what: 'a misspelt value',
    scenario: 'minimal',
    set: ['qeue="q"'],
    says: /additional properties 'qeue' not allowed/,
  },
  {
    what: 'dashboards that no sidecar would find',
    scenario: 'minimal',
    set: ['metrics.dashboards={"enabled":true,"labels":null}'],
    says: /metrics\.dashboards\.labels is empty: without the label that Grafana's sidecar looks for/,
  },
  {
    what: 'a limit of processor',
    scenario: 'minimal',
    set: ['workers.activities.resources.limits.cpu="1"'],
    says: /additional properties 'cpu' not allowed/,
  },
  {
    what: 'a heap as large as the pod',
    scenario: 'minimal',
    set: ['heapPercentage=95'],
    says: /'\/heapPercentage': maximum/,
  },
  {
    what: 'an address without a port',
    scenario: 'minimal',
    set: ['temporal.address="temporal"'],
    says: /'\/temporal\/address'.*does not match pattern/,
  },
  {
    what: 'a name that is no variable',
    scenario: 'minimal',
    set: ['allowEnv=["openai-key"]'],
    says: /'\/allowEnv\/0'.*does not match pattern/,
  },
];

describe('the chart refuses', { skip }, () => {
  for (const { what, scenario, set, says } of refusals) {
    it(what, async () => {
      await assert.rejects(renderText(scenario, set), { message: says });
    });
  }
});
