import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readComplaint } from '../../../adapters/chat-model/complaint.ts';
import { codeOf } from '../../../adapters/chat-model/failure.ts';
import type { Json } from '../../../domain/json.ts';
import { benchOf, completion, say } from './model-server.ts';

const said = (message: string, more: Record<string, Json> = {}): Json => ({ error: { message, ...more } });

type Row = readonly [status: number, body: Json];

const wordings: Readonly<Record<string, readonly Row[]>> = {
  context_full: [
    [400, said('too long', { code: 'context_length_exceeded' })],
    [
      400,
      said(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      ),
    ],
    [400, said('prompt is too long: 213462 tokens > 200000 maximum')],
    [400, said('Your input exceeds the context window of this model')],
    [400, said('The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)')],
    [400, said('Please reduce the length of the messages or completion.')],
    [
      400,
      said('the request exceeds the available context size, try increasing it', {
        type: 'exceed_context_size_error',
      }),
    ],
    [400, said('tokens to keep from the initial prompt is greater than the context length')],
    [400, said('invalid params, context window exceeds limit (2013)')],
    [400, said('Your request exceeded model token limit: 131072 (requested: 140000)')],
    [400, said('Input is too long for requested model.')],
    [400, said('Requested tokens (5000) exceed context window of 4096')],
    [400, said("This model's maximum prompt length is 131072 but the request contains 537812 tokens")],
    [400, said('Range of input length should be [1, 30720]')],
    [400, said('input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000')],
    [400, { object: 'error', message: "This model's maximum context length is 4096 tokens" }],
    [400, { detail: 'Prompt is too long' }],
    [
      422,
      { detail: [{ loc: ['body', 'messages'], msg: 'input tokens exceed the limit', type: 'value_error' }] },
    ],
    [400, [said('The input token count exceeds the maximum')] as Json],
    [400, { error: 'context length exceeded' }],
    [500, said('Context size has been exceeded.')],
    [500, 'litellm.ContextWindowExceededError: prompt is too long'],
    [413, '<html>413 Request Entity Too Large</html>'],
    [413, said('Request too large for model `small` on tokens per minute (TPM): Limit 6000, Requested 8000')],
    [429, said('Request too large for small-1 on tokens per min (TPM): Limit 30000, Requested 45000.')],
  ],
  content_refused: [
    [
      400,
      said('The response was filtered due to the prompt triggering the content management policy.', {
        code: 'content_filter',
      }),
    ],
    [400, said('filtered', { innererror: { code: 'ResponsibleAIPolicyViolation' } })],
    [
      400,
      said('Your prompt was flagged as potentially violating our usage policy', { code: 'invalid_prompt' }),
    ],
    [400, said('Content Exists Risk')],
    [400, said('Output data may contain inappropriate content.', { code: 'data_inspection_failed' })],
    [400, said('The request was rejected because it was considered high risk')],
    [403, said('Your chosen model requires moderation and your input was flagged for "violence"')],
    [400, said('Rejected by the safety system')],
    [500, said('litellm.ContentPolicyViolationError: content_policy_violation')],
    [400, said('Provider returned error', { metadata: { raw: '{"error":{"code":"content_filter"}}' } })],
  ],
  denied: [
    [
      429,
      said('You exceeded your current quota, please check your plan and billing details.', {
        code: 'insufficient_quota',
      }),
    ],
    [429, said('Your account balance is insufficient', { code: 'insufficient_balance' })],
    [400, said('Your credit balance is too low to access the API.')],
    [402, said('Insufficient Balance')],
    [402, said('This request requires more credits, or fewer max_tokens.')],
    [429, said('Your monthly usage limit was reached')],
    [403, '<html>blocked<footer>Content Policy</footer></html>'],
  ],
  rate_limited: [
    [429, said('Rate limit reached for small-1 on requests per min (RPM): Limit 3, Used 3, Requested 1.')],
    [429, said('Too many tokens, please wait before trying again.')],
    [429, said('Resource has been exhausted (e.g. check quota).')],
    [429, said('Quota exceeded for quota metric requests, limit of requests per minute')],
    [429, ''],
  ],
  invalid_request: [
    [400, said("Unknown parameter: 'foo'.")],
    [400, said('max_tokens is too large: 100000. This model supports at most 16384 completion tokens.')],
    [400, said('messages must not be empty')],
    [422, { detail: [{ loc: ['body', 'model'], msg: 'field required', type: 'missing' }] }],
  ],
  bad_reply: [
    [400, said('Failed to call a function. Please adjust your prompt.', { code: 'tool_use_failed' })],
    [400, said('Could not finish the message because max_tokens or model output limit was reached.')],
  ],
  unavailable: [
    [500, said('The server had an error while processing your request.')],
    [503, said('Loading model')],
    [529, said('Overloaded', { type: 'overloaded_error' })],
  ],
};

for (const [code, rows] of Object.entries(wordings)) {
  for (const [status, body] of rows) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    test(`${status} ${text.slice(0, 90)} is ${code}`, () => {
      assert.equal(codeOf(status, readComplaint(text), undefined), code);
    });
  }
}

const reasons: readonly (readonly [reason: string, code: string])[] = [
  ['content_filter', 'content_refused'],
  ['SAFETY', 'content_refused'],
  ['FinishReason.PROHIBITED_CONTENT', 'content_refused'],
  ['refusal', 'content_refused'],
  ['model_context_window_exceeded', 'context_full'],
  ['context-length-exceeded', 'context_full'],
  ['network_error', 'bad_reply'],
];
for (const [reason, code] of reasons) {
  test(`a reply that stopped with ${reason} is ${code}`, async () => {
    const choices = [{ message: { content: 'half a' }, finish_reason: reason }];
    const bench = await benchOf(say(completion({}, { choices })));
    assert.equal((await bench.fault()).code, code);
  });
}

test('a reply that stopped at its limit of tokens is a reply', async () => {
  const choices = [{ message: { content: 'half a' }, finish_reason: 'length' }];
  const bench = await benchOf(say(completion({}, { choices })));
  assert.equal((await bench.chat()).text, 'half a');
});

test('a completion with status 400 that a filter stopped is content_refused', async () => {
  const choices = [{ message: { content: '' }, finish_reason: 'content_filter' }];
  const bench = await benchOf(say(completion({}, { choices }), 400));
  assert.equal((await bench.fault()).code, 'content_refused');
});

test('a conversation that talks of filters and limits is no ending', async () => {
  const bench = await benchOf(
    say(completion({ content: 'The content filter says that the context length is exceeded' })),
  );
  assert.match((await bench.chat()).text, /content filter/);
});
