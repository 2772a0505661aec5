/** What a stream carries: the name of a server-sent event (empty: none) and its data, or a line. */
export type Payload = { readonly event: string; readonly data: string };

export type Payloads = AsyncIterable<Payload> & {
  /** Known from the first line on. */
  kind(): 'events' | 'lines';
  /** The body as far as it was read. */
  text(): string;
  isWhole(): boolean;
};

/** Cuts a body into payloads while it comes. Over `maxBytes` it ends, and is not whole. */
export function readPayloads(
  body: AsyncIterable<Buffer>,
  { contentType, maxBytes }: { readonly contentType: string; readonly maxBytes: number },
): Payloads {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  let kind: 'events' | 'lines' | undefined = contentType.includes('event-stream') ? 'events' : undefined;

  async function* linesOf(): AsyncGenerator<string> {
    let rest = '';
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) return;
      const fresh = decoder.decode(chunk, { stream: true });
      text += fresh;
      const lines = (rest + fresh).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  }

  async function* payloadsOf(): AsyncGenerator<Payload> {
    let event = '';
    let data: string[] = [];
    for await (const line of linesOf()) {
      if (kind === undefined && line.trim() !== '') kind = isField(line) ? 'events' : 'lines';
      if (kind === 'lines') {
        if (line.trim() !== '') yield { event: '', data: line.trim() };
      } else if (line.trim() === '') {
        if (data.length > 0) yield { event, data: data.join('\n').trim() };
        event = '';
        data = [];
      } else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
      else if (line.startsWith('event:')) event = line.slice('event:'.length).trim();
    }
    if (data.length > 0) yield { event, data: data.join('\n').trim() };
  }

  return {
    [Symbol.asyncIterator]: payloadsOf,
    kind: () => kind ?? 'lines',
    text: () => text,
    isWhole: () => bytes <= maxBytes,
  };
}

function isField(line: string): boolean {
  return /^(?:data|event|id|retry)?:/.test(line);
}
