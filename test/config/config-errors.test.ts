// Tests the exact messages about a wrong configuration file.
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { ConfigProblems } from '#app/config/config-problems.js';
import { CONFIG_FILE } from '#app/config/file-rule.js';
import { TARGET as TARGET_FIELDS } from '#app/config/file-rule.js';
import { SETTINGS } from '#app/config/settings.js';
import { parseToml } from '#app/document/toml-file.js';
import { faultMessage } from '../support/fault-message.js';

const NAME = 'a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."';
const ITEM = 'a string of 1 to 1024 characters in one line';
const TARGET_KEYS = Object.keys(TARGET_FIELDS).map(keyOf).join(', ');

const ALL_KEYS = [
  ...Object.keys(SETTINGS).map(keyOf),
  'targets',
  'discover',
  'host_page',
  'metric_scopes',
].join(', ');

function load(text: string) {
  const problems = new ConfigProblems();
  const document = parseToml('c.toml', text);
  const values = problems.of(document).read(document, CONFIG_FILE);
  problems.throwIfAny();
  return values;
}
const complaint = (text: string) => faultMessage('CONFIG_INVALID', () => load(text));

const TARGET = '[[targets]]\napp = "ads"\nserver_key = "82"\n';

describe('configuration errors', () => {
  const table: readonly (readonly [kind: string, toml: string, lines: readonly string[]])[] = [
    [
      'an unknown key, with the nearest known key',
      'debug = true\nmetrics_prot = 1',
      ['c.toml:2:1: metrics_prot: unknown key (did you mean "metrics_port"?)'],
    ],
    [
      'an unknown key that resembles no known key, with all allowed keys',
      `${TARGET}zzz = 1`,
      [`c.toml:4:1: targets[0].zzz: unknown key, allowed: ${TARGET_KEYS}`],
    ],
    [
      'a top-level setting inside a table, with the place where it belongs',
      `${TARGET}http_reload_enabled = true\n[[metric_scopes]]\nname = "a"\nmetrics = ["b"]\ndebug = true`,
      [
        'c.toml:4:1: targets[0].http_reload_enabled: unknown key in a table; it is a top-level setting, so put it above the first table',
        'c.toml:8:1: metric_scopes[0].debug: unknown key in a table; it is a top-level setting, so put it above the first table',
      ],
    ],
    [
      'a key that has another name in its table, with that name',
      `${TARGET}server_keys = ["82"]`,
      ['c.toml:4:1: targets[0].server_keys: unknown key (did you mean "server_key"?)'],
    ],
    [
      'an unknown key that is the last part of a known key, with the known key',
      'port = 9464',
      ['c.toml:1:1: port: unknown key (did you mean "metrics_port"?)'],
    ],
    [
      'an unknown table, once',
      '[target]\na = 1\nb.c = 2',
      ['c.toml:1:1: target: unknown key (did you mean "targets"?)'],
    ],
    [
      'a wrong type',
      'metrics_port = "9464"',
      [
        'c.toml:1:16: metrics_port (--metrics-port): found "9464", allowed: an integer from 0 to 65535',
      ],
    ],
    [
      'a float where an integer is needed',
      'metrics_port = 9464.0',
      [
        'c.toml:1:16: metrics_port (--metrics-port): found 9464.0, allowed: an integer from 0 to 65535',
      ],
    ],
    [
      'a date in place of a string',
      'classes = [1979-05-27]',
      [`c.toml:1:12: classes[0]: found the date or time 1979-05-27, allowed: ${ITEM}`],
    ],
    [
      'a number out of range',
      '  target_workers = 65 # many',
      ['c.toml:1:20: target_workers: found 65, allowed: an integer from 0 to 64'],
    ],
    [
      'a word that is not allowed, with the allowed words',
      'worker_execution_mode = "thread"',
      [
        'c.toml:1:25: worker_execution_mode: found "thread" (did you mean "threaded"?), allowed: "logical" or "threaded"',
      ],
    ],
    [
      'a wrong array item, with its index and position',
      `${TARGET}[[targets]]\napp = "adh"\nserver_key = "1"\nclasses = [\n  "a",\n  5,\n]`,
      [`c.toml:9:3: targets[1].classes[1]: found 5, allowed: ${ITEM}`],
    ],
    [
      'a missing key, at the header of its table',
      'debug = true\n[[targets]]\napp = "ads"',
      [`c.toml:2:1: targets[0].server_key: found nothing, needed: ${NAME}`],
    ],
    [
      'a server key that is a number',
      'targets = [{ app = "ads", server_key = 82 }]',
      [`c.toml:1:40: targets[0].server_key: found 82 (write "82"), allowed: ${NAME}`],
    ],
    [
      'one table where an array of tables is needed',
      '[targets]\napp = "ads"',
      [
        'c.toml:1:1: targets: found a table (write [[targets]]), allowed: an array of at most 1024 different items, each a [[targets]] table',
      ],
    ],
    [
      'two identical targets',
      `${TARGET}[[targets]]\nserver_key = "82"\napp = "ads"\nclasses = []`,
      ['c.toml:4:1: targets[1]: repeats targets[0]; the two must differ'],
    ],
    [
      'two targets that lack the same key as incomplete, not as identical',
      '[[targets]]\napp = "ads"\n[[targets]]\napp = "ads"\n[[metric_scopes]]\nmetrics = ["x"]\n[[metric_scopes]]\nmetrics = ["x"]',
      [
        `c.toml:1:1: targets[0].server_key: found nothing, needed: ${NAME}`,
        `c.toml:3:1: targets[1].server_key: found nothing, needed: ${NAME}`,
        ...[5, 7].map(
          (line, index) =>
            `c.toml:${line}:1: metric_scopes[${index}].name: found nothing, needed: a string of 1 to 256 letters, digits, ".", "_" and "-"`,
        ),
      ],
    ],
    [
      'two scopes with the same name',
      '[[metric_scopes]]\nname = "a"\nmetrics = ["x"]\n[[metric_scopes]]\nname = "a"\nmetrics = ["y"]',
      ['c.toml:5:8: metric_scopes[1].name: repeats metric_scopes[0].name; the two must differ'],
    ],
    [
      'a scope name with characters that spec 2.3 does not allow',
      '[[metric_scopes]]\nname = "a b"\nmetrics = ["x"]',
      [
        'c.toml:2:8: metric_scopes[0].name: found "a b", allowed: a string of 1 to 256 letters, digits, ".", "_" and "-"',
      ],
    ],
    [
      'patterns that can match no metric name',
      '[[metric_scopes]]\nname = "a"\nmetrics = ["ads_*", "", "a-b"]',
      [
        'c.toml:3:21: metric_scopes[0].metrics[1]: found "", allowed: a string of 1 to 256 letters, digits, "_", ":" and "*"',
        'c.toml:3:25: metric_scopes[0].metrics[2]: found "a-b", allowed: a string of 1 to 256 letters, digits, "_", ":" and "*"',
      ],
    ],
    [
      'all mistakes together, in the order of the file',
      'worker_rebalance_enabled = 1\napp = "-"\nfoo.bar.baz.qux.quux = 1\n',
      [
        'c.toml:1:28: worker_rebalance_enabled: found 1 (write true), allowed: true or false',
        'c.toml:2:7: app (--app): found "-", allowed: a string of 1 to 64 letters, digits and "_" that starts with a letter',
        `c.toml:3:1: foo: unknown key, allowed: ${ALL_KEYS}`,
      ],
    ],
    [
      'terminal control characters as escaped text',
      'stdout_format = "\\u001b[2J\\u202e"\n"\\u009b" = 1',
      [
        'c.toml:1:17: stdout_format (--stdout-format): found "\\u001b[2J\\u{202e}", allowed: "text" or "json" or "merged"',
        `c.toml:2:1: "\\u{9b}": unknown key, allowed: ${ALL_KEYS}`,
      ],
    ],
  ];

  for (const [kind, toml, lines] of table)
    it(`report ${kind}`, () => expect(complaint(toml).split('\n')).to.deep.equal(lines));

  it('report a hundred problems, and count further problems', () => {
    const keys = Array.from({ length: 150 }, (_, index) => `key${index} = 1\n`);
    const lines = complaint(keys.join('')).split('\n');
    expect(lines).to.have.lengthOf(101);
    expect(lines.at(-1)).to.equal('c.toml: and 50 more problems');
  });

  const tables = (head: string, count: number, body: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `[[${head}]]\n${body(index)}\n`).join('');

  it('report more than 1024 targets', () => {
    const targets = (count: number) =>
      tables('targets', count, (index) => `app = "ads"\nserver_key = "${index}"`);
    expect(load(targets(1024))?.targets).to.have.lengthOf(1024);
    expect(complaint(targets(1025))).to.include('targets: found an array of 1025');
  });

  it('report more than 256 scopes', () => {
    const scopes = (count: number) =>
      tables('metric_scopes', count, (index) => `name = "s${index}"\nmetrics = ["*"]`);
    expect(load(scopes(256))?.metricScopes).to.have.lengthOf(256);
    expect(complaint(scopes(257))).to.include('metric_scopes: found an array of 257');
  });
});
