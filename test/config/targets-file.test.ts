// The legacy flat target file (spec 2.4).
import { expect } from 'chai';
import { checked } from '#app/rules/problems.js';
import { TARGET, TARGETS_FILE } from '#app/config/file-rule.js';
import { OF_TARGET } from '#app/config/settings.js';
import { keyOf } from '#app/rules/table.js';
import { parseTargets } from '#app/config/targets-file.js';
import { faultMessage } from '../support/fault-message.js';

const load = (text: string) => checked(parseTargets('t.txt', text), TARGETS_FILE).targets;

const DEFAULTS = Object.entries(OF_TARGET).map(([name, { fallback }]) => [name, fallback] as const);
const PLAIN = { app: 'ads', serverKey: '82', ...Object.fromEntries(DEFAULTS) };
const KEYS = Object.keys(TARGET).map(keyOf).join(', ');

describe('the reader of legacy target files', () => {
  const reads = [
    ['target app=ads server_key=82', [PLAIN]],
    ['\ttarget   server_key=82\tapp=ads  \r\n', [PLAIN]],
    ['# all\n\ntarget app=ads server_key=82 # one\n#\n', [PLAIN]],
    ['target app="ads" server_key="82" classes=', [PLAIN]],
    ['target app=ads server_key=82 instance=#1', [{ ...PLAIN, instance: '#1' }]],
    ['target app=ads server_key=82 variable=a=b', [{ ...PLAIN, variable: 'a=b' }]],
    [
      'target app=ads server_key=82 variable="# \\"objs\\" \\\\"',
      [{ ...PLAIN, variable: '# "objs" \\' }],
    ],
    [
      'target app=ads server_key=82 classes=a,b seed_paths="@root, x y" seed_path_groups=g',
      [{ ...PLAIN, classes: ['a', 'b'], seedPaths: ['@root', 'x y'], seedPathGroups: ['g'] }],
    ],
    ['target app=ads server_key=82 show_uncatalogued=true', [{ ...PLAIN, showUncatalogued: true }]],
    ['target app=ads server_key=82 show_uncatalogued=false', [PLAIN]],
    [
      'target app=ads server_key=82 path_labels=floor.{floor}.{till},{area}',
      [{ ...PLAIN, pathLabels: ['floor.{floor}.{till}', '{area}'] }],
    ],
    [
      'target app=ads server_key=82 publisher_time_zone=Asia/Tokyo',
      [{ ...PLAIN, publisherTimeZone: 'Asia/Tokyo' }],
    ],
    [
      'target app=ads server_key=82\ntarget app=adh server_key=456',
      [PLAIN, { ...PLAIN, app: 'adh', serverKey: '456' }],
    ],
  ] as const;
  for (const [text, targets] of reads)
    it(`accepts ${JSON.stringify(text)}`, () =>
      expect(load(text)).to.deep.equal(targets.map((target, index) => ({ ...target, index }))));

  const PAIR = 'allowed: key=value or key="value", with \\" and \\\\ inside quotes';
  const NAME = 'a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."';
  const refuses: readonly (readonly [text: string, lines: readonly string[]])[] = [
    ['', ['t.txt:1:1: found no target, needed: a line such as target app=ads server_key=82']],
    ['# x', ['t.txt:1:1: found no target, needed: a line such as target app=ads server_key=82']],
    ['tgt app=ads', ['t.txt:1:1: found "tgt", allowed: a line that starts with target']],
    [
      'MIIEvQIBADANBgkqhkiG9w0BAQEF',
      ['t.txt:1:1: found a word of 28 characters, allowed: a line that starts with target'],
    ],
    ['target=x', ['t.txt:1:1: found "target=x", allowed: a line that starts with target']],
    ['target app', ['t.txt:1:8: found "app" without "=", allowed: key=value']],
    ['target app="ads x', [`t.txt:1:8: found "app=\\"ads", ${PAIR}`]],
    ['target app="ads"x', [`t.txt:1:8: found "app=\\"ads\\"x", ${PAIR}`]],
    ['target app="a\\n"', [`t.txt:1:8: found "app=\\"a\\\\n\\"", ${PAIR}`]],
    ['target app=a app=b', ['t.txt:1:14: app is set twice in this line']],
    ['target app=ads', [`t.txt:1:1: targets[0].server_key: found nothing, needed: ${NAME}`]],
    [
      '# x\ntarget app=ads server_key=82\ntarget app=ads server_key=8/2',
      [`t.txt:3:27: targets[1].server_key: found "8/2", allowed: ${NAME}`],
    ],
    [
      'target app=ads server_key=82 clases=a',
      ['t.txt:1:30: targets[0].clases: unknown key (did you mean "classes"?)'],
    ],
    [
      'target app=ads server_key=82 __proto__=x constructor=y',
      [
        `t.txt:1:30: targets[0].__proto__: unknown key, allowed: ${KEYS}`,
        `t.txt:1:42: targets[0].constructor: unknown key, allowed: ${KEYS}`,
      ],
    ],
    [
      'target app=ads server_key=82 classes=a,,b',
      [
        't.txt:1:38: targets[0].classes[1]: found "", allowed: a string of 1 to 1024 characters in one line',
      ],
    ],
    [
      'target app=ads server_key=82 show_uncatalogued=yes',
      [
        't.txt:1:48: targets[0].show_uncatalogued: found "yes" (write true), allowed: true or false',
      ],
    ],
    [
      'target app=ads server_key=82 publisher_time_zone=Asia/Tokio',
      [
        't.txt:1:50: targets[0].publisher_time_zone: found "Asia/Tokio" (did you mean "Asia/Tokyo"?), allowed: the IANA name of a time zone such as "Europe/London", or ""',
      ],
    ],
    [
      'target app=ads server_key=82\ntarget server_key=82 app=ads',
      ['t.txt:2:1: targets[1]: repeats targets[0]; the two must differ'],
    ],
    [
      'target app\nx\n target server_key=1 "',
      [
        't.txt:1:8: found "app" without "=", allowed: key=value',
        't.txt:2:1: found "x", allowed: a line that starts with target',
        `t.txt:3:22: found "\\"", ${PAIR}`,
      ],
    ],
  ];
  for (const [text, lines] of refuses)
    it(`rejects ${text.startsWith('MIIE') ? 'a private key' : JSON.stringify(text)}, and states file, line and column`, () =>
      expect(faultMessage('CONFIG_INVALID', () => load(text)).split('\n')).to.deep.equal(lines));
});
