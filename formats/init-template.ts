/** A file that `regatta init` writes; `path` is relative to the chosen folder. */
export type InitFile = { readonly path: string; readonly text: string };

/** Where the schema lies in a project that has installed the package. */
const installedSchema = 'node_modules/regatta/formats/schemas/sweep.schema.json';

/**
 * A small sweep that runs at once, without keys: `sweep.yaml` and the agent that it tests, `desk.ts`.
 * `schema` is the address or the path (from the sweep file) of the JSON Schema that editors complete it with.
 */
export function initFiles(schema: string = installedSchema): readonly InitFile[] {
  return [
    { path: 'sweep.yaml', text: `# yaml-language-server: $schema=${schema}\n${sweep}` },
    { path: 'desk.ts', text: desk },
  ];
}

const sweep = `# Plays every scenario against the target and says whether it may ship:
#   regatta validate sweep.yaml
#   regatta run sweep.yaml
name: first-sweep

# What is played: one row a situation. Rows can also come from files: - file: scenarios/*.jsonl
scenarios:
  - id: parcel-is-late
    input:
      order: 4471
      mood: impatient
    expected: on its way
    tags:
      - delivery
  - id: parcel-was-lost
    input:
      order: 4480
      mood: calm
    expected: send a new one
    tags:
      - delivery

# Who plays the customer: here a script. Words in braces are filled in from the row.
driver:
  script:
    - "Hello, where is my order {order}?"
    - And what happens now?

# A model plays it better. Take these lines in place of the script above, and add the model:
#   models:
#     gpt:
#       model: gpt-4o-mini
#       base_url: https://api.openai.com/v1
#       api_key: \${OPENAI_API_KEY}
#   driver:
#     model: gpt
#     prompt: You are a customer, {mood}. You want to know where your order {order} is.

# What is tested: here the file beside this one. For a service of your own:
#   target:
#     http:
#       send:
#         url: http://localhost:8000/chat
#         body:
#           message: "{latest_message}"
#         reply: response.text
target:
  module: desk.ts

conversation:
  max_turns: 4

# Every run is played so many times: agents do not do the same thing twice.
repeats: 3

# What is asked of each conversation. A required check fails its run; a soft one is only tracked.
checks:
  names_the_order:
    contains_any: "order {order}"
  settles_it:
    contains_any: "{expected}"
  is_quick:
    reply_seconds:
      at_most: 5
    required: false

# What all runs together must come to: the exit code is 0 when every line holds.
thresholds:
  - pass_rate >= 0.9
  - p95(reply_seconds) <= 5
`;

const desk = `// The agent under test: a service desk for parcels. Put your own agent behind \`reply\`.

type Message = { role: 'user' | 'assistant'; content: string };

const parcels: Record<string, string> = {
  '4471': 'it is on its way to you',
  '4480': 'it was lost, and we send a new one',
};

/** Answers the latest message of a conversation. */
export function reply({ messages }: { messages: Message[] }): string {
  const said = messages.filter((message) => message.role === 'user').map((message) => message.content);
  const order = /\\d{4}/.exec(said.join(' '))?.[0];
  if (order === undefined) return 'Welcome! Which order is it about?';
  return \`I have looked at order \${order}: \${parcels[order] ?? 'I cannot find it'}.\`;
}
`;
