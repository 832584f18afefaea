// Tests the page that compares the publisher libraries: its names exist, and its defaults are those of real
// segments.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Publisher } from '#app/native/publisher/publisher.js';
import { PROJECT, testPrograms } from '../support/processes.js';

const LANGUAGES = ['C, C++', 'TypeScript', 'Python'] as const;
const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const SOURCES = [
  read('sdk/c/shm_publisher.h'),
  ['publisher', 'published-values', 'publisher-options', 'publish-registry', 'allocators']
    .map((file) => read(`src/native/publisher/${file}.ts`))
    .join('\n// End of a file.\n'),
  ['publisher', 'nodes', 'registry']
    .map((file) => read(`sdk/python/shm_publisher/${file}.py`))
    .join(''),
];
/** Sources of metrics with labels, which the page names, too. */
const METRICS = [
  read('sdk/c/shm_metrics.h') + read('sdk/c/shm_publisher.hpp'),
  ['counter', 'gauge', 'histogram', 'summary', 'info', 'metric', 'publish']
    .map((file) => read(`src/native/publisher/metrics/${file}.ts`))
    .join('\n'),
  read('sdk/python/shm_publisher/metrics.py') + read('sdk/python/shm_publisher/store.py'),
];
/** The calls of metrics with labels in C. */
const C_METRICS =
  /^(?:static inline [\w ]+\*?|#define )(shm_(?:counter|float_counter|gauge|histogram|summary|info|metrics?|timer)_(?!\w*_of\()\w+)\(/gm;
/** Names of classes of metrics and of the store behind them, which programs do not call. */
const PYTHON_INTERNAL =
  /^(?:Metric|PublishedMetrics|Settings|Store|FirstUse|publish_later|add|drop|tell|has|follow|begin|begin_in_child|open_in_worker|path)$/;
/** Methods of handles and publishers that programs call. */
const PUBLIC = [
  /^static inline (?:int|void|bool|const char \*)\s*(shm_(?:publisher|add|remove|set|unset|clear|error|u64|i64|f64|bool|text|histogram|summary)_?\w*)\(/gm,
  /^ {2}(?:get )?([a-z]\w+)(?:<[^(]*>)?\((?:.*\).* \{$|$)/gm,
  /^ {4}def ([a-z]\w+)\(self/gm,
];
/** Names that match `PUBLIC` but are internal, aliases, or exist on every object of the language. */
const NOT_CALLS = [
  /^shm_(?:publisher_place|publisher_beat|text_count|\w+_code|set_names|set_bits|add_bits|add_bits_shared|add_record|add_tombstone|remove)$|_shared$/,
  // Two former names; the last four belong to allocators.
  /^(?:constructor|setDropped|place|beat|allocate|free|reserve|top)$/,
  /^(?:name|update|remap|leave_file)$/,
];

const rows = read('docs/publisher-libraries.md')
  .split('\n')
  .filter((line) => /^\| (?!To |Option )/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const namesIn = (cell: string): string[] =>
  [...cell.matchAll(/`([a-zA-Z]\w*)`/g)].map(([, name = '']) => name);
/** Returns the number in a cell, such as 1,000 in "`heartbeatMs`: 1,000 ms", without commas. */
const numberOf = (what: string, language: number): string => {
  const cell = rows.find(([first]) => first === what)?.[language + 1] ?? '';
  return (/(?:^|: )([\d,]+)/.exec(cell)?.[1] ?? cell).replaceAll(',', '');
};

describe('the page of the publisher libraries', function () {
  this.slow(3000);
  const programs = testPrograms();
  const published: Publisher[] = [];
  after(() => {
    for (const publisher of published) publisher.close();
  });
  const segmentOf = (key: string) => join('/dev/shm', `${programs.contextId}.pool.${key}`);

  for (const [i, language] of LANGUAGES.entries()) {
    it(`has only names that the ${language} library has`, () => {
      const names = rows.flatMap((cells) => namesIn(cells[i + 1] ?? ''));
      const source = `${SOURCES[i]}${METRICS[i]}`;
      for (const name of names) expect(source).to.match(new RegExp(`\\b${name}\\b`), name);
      expect(names).to.have.length.above(25);
    });

    it(`has every call of the ${language} library`, () => {
      const found = [...(SOURCES[i] ?? '').matchAll(PUBLIC[i] ?? /$/g)].map(
        ([, name = '']) => name,
      );
      const calls = found.filter((name) => !NOT_CALLS[i]?.test(name));
      expect(rows.flatMap((cells) => namesIn(cells[i + 1] ?? ''))).to.include.members(calls);
      expect(calls).to.have.length.above(10);
    });
  }

  it('has every call of metrics with labels in C', () => {
    const calls = [...(METRICS[0] ?? '').matchAll(C_METRICS)].map(([, name = '']) => name);
    const internal = ['shm_metric_after', 'shm_info_set_texts', 'shm_histogram_observe_value'];
    const named = rows.flatMap((cells) => namesIn(cells[1] ?? ''));
    expect(named).to.include.members(calls.filter((name) => !internal.includes(name)));
    expect(calls).to.have.length.above(20);
  });

  it('has every call of metrics with labels in Python', () => {
    const calls = [...(METRICS[2] ?? '').matchAll(/^(?:def|class| {4}def) ([A-Za-z]\w+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !PYTHON_INTERNAL.test(name));
    expect(rows.flatMap((cells) => namesIn(cells[3] ?? ''))).to.include.members(calls);
    expect(calls).to.have.length.above(15);
  });

  /**
   * One function for each programming language. It publishes a text variable with default options until the
   * suite ends.
   */
  const publish: readonly ((key: string) => void | Promise<void>)[] = [
    async (key) => {
      const source = programs.write(
        'defaults.c',
        `#include "shm_publisher.h"
        int main(void) {
          shm_options options = shm_options_default();
          options.context_id = "${programs.contextId}";
          options.server_key = "${key}";
          shm_publisher *publisher;
          shm_object root;
          shm_variable text;
          if (shm_publisher_open(&publisher, &options) != 0) return 1;
          shm_add_root(publisher, &root, "r", "R", NULL);
          shm_add_variable(&root, &text, "text", SHM_STRING, NULL);
          if (shm_publisher_publish(publisher) != 0) return 1;
          fprintf(stderr, "placed\\n");
          pause();
        }
        `,
      );
      const binary = programs.path('defaults');
      spawnSync('cc', ['-I', join(PROJECT, 'sdk/c'), '-o', binary, source, '-pthread']);
      await programs.command([binary]).line(/placed/);
    },
    (key) => {
      const publisher = new Publisher({ serverKey: key, contextId: programs.contextId });
      publisher.addVariable(publisher.addRoot('r', 'R'), 'text', 'string');
      publisher.place();
      published.push(publisher);
    },
    async (key) => {
      const script = programs.write(
        'defaults.py',
        `import signal, sys
sys.path.insert(0, '${join(PROJECT, 'sdk/python')}')
import shm_publisher as shm
publisher = shm.Publisher('${key}', '${programs.contextId}')
publisher.add_variable(publisher.add_root('r'), 'text', shm.STRING)
publisher.publish()
print('placed', file=sys.stderr, flush=True)
signal.pause()
`,
      );
      await programs.command(['python3', script]).line(/placed/);
    },
  ];

  for (const [i, language] of LANGUAGES.entries())
    it(`states the default sizes of a segment in the ${language} library`, async () => {
      const key = `defaults${i}`;
      await publish[i]?.(key);
      const bytes = readFileSync(segmentOf(key));
      const u64 = (at: number) => String(bytes.readBigUInt64LE(at));
      const textUnits = bytes.readUInt32LE(Number(u64(88)) + 64 + 56);
      const page = (what: string) => numberOf(what, i);
      expect(u64(104)).to.equal(page('records of a directory'));
      expect(u64(128)).to.equal(page('bytes of strings'));
      expect(u64(152)).to.equal(page('slots'));
      expect(u64(168)).to.equal(page('bytes of frames'));
      expect(String(bytes.length)).to.equal(page('size in `/dev/shm` with these'));
      expect(String((textUnits - 3) * 8)).to.equal(page('bytes of a text'));
      const period =
        language === 'Python' ? `${page('heartbeat period')}000` : page('heartbeat period');
      expect(u64(72)).to.equal(`${period}000000`);
      expect((statSync(segmentOf(key)).mode & 0o7777).toString(8).padStart(4, '0')).to.equal(
        page('mode of the file'),
      );
    });
});
