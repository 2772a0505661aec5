import assert from 'node:assert/strict';

export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};
export type Family = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
};

const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i;

/**
 * Reads a page in Prometheus' text format 0.0.4 and refuses what its linter would: a family without help or type, or
 * told twice, a series told twice, a counter without `_total` or another kind with it, a histogram that does not add up.
 */
export function readMetricText(page: string): ReadonlyMap<string, Family> {
  assert.ok(page.endsWith('\n'), 'the last line ends');
  const families = new Map<string, Family & { readonly samples: Sample[] }>();
  const helps = new Map<string, string>();
  const series = new Set<string>();
  let current: (Family & { readonly samples: Sample[] }) | undefined;
  for (const line of page.split('\n').slice(0, -1)) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      assert.ok(!helps.has(name), `${name} has one help`);
      helps.set(name, rest);
    } else if (keyword === 'TYPE') {
      assert.ok(!families.has(name), `${name} has one type`);
      current = { name, type: rest, help: helps.get(name) ?? '', samples: [] };
      families.set(name, current);
    } else if (line !== '' && !line.startsWith('#')) {
      assert.ok(!series.has(line.replace(/ \S+$/, '')), `told twice: ${line}`);
      series.add(line.replace(/ \S+$/, ''));
      assert.ok(current !== undefined, `no type before ${line}`);
      current.samples.push(readSample(line, current));
    }
  }
  for (const family of families.values()) lint(family);
  return families;
}

function readSample(line: string, family: Family): Sample {
  const [, name = '', labelText = '', value = ''] = sample.exec(line) ?? [];
  assert.notEqual(name, '', `not a sample: ${line}`);
  const suffix = name.slice(family.name.length);
  const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  assert.ok(name.startsWith(family.name) && suffixes.includes(suffix), `${name} stands under ${family.name}`);
  return { name, labels: readLabels(labelText, line), value: Number(value.replace('Inf', 'Infinity')) };
}

function readLabels(text: string, line: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  let read = 0;
  for (let found = label.exec(text); found !== null; found = label.exec(text)) {
    const [whole, name = '', value = ''] = found;
    assert.ok(!(name in labels), `label told twice: ${line}`);
    labels[name] = value;
    read += whole.length;
  }
  assert.equal(read, text.length, `labels cannot be read: ${line}`);
  return labels;
}

function lint(family: Family): void {
  const { name, type, help, samples } = family;
  assert.notEqual(help, '', `${name} has a help`);
  assert.match(name, /^[a-z][a-z0-9_]*$/);
  assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
  if (type === 'counter') {
    assert.deepEqual(
      samples.filter(({ value }) => !(value >= 0)),
      [],
    );
  }
  if (type === 'histogram') lintHistogram(family);
}

function lintHistogram({ name, samples }: Family): void {
  const counts = samples.filter((each) => each.name === `${name}_count`);
  for (const { labels, value } of counts) {
    const buckets = samples.filter(
      (each) =>
        each.name === `${name}_bucket` &&
        Object.entries(labels).every(([key, text]) => each.labels[key] === text),
    );
    const values = buckets.map((each) => each.value);
    assert.deepEqual(
      values,
      values.toSorted((a, b) => a - b),
      `${name} adds up`,
    );
    assert.equal(buckets.at(-1)?.labels.le, '+Inf');
    assert.equal(values.at(-1), value, `${name} counts all`);
  }
}
