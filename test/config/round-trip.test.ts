// Round trips of arbitrary settings through TOML, and random text as input.
import fc from 'fast-check';
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { Fault } from '#app/errors.js';
import { parseArguments } from '#app/config/arguments.js';
import { checked } from '#app/rules/problems.js';
import type { SettingsDocument } from '#app/document/document.js';
import { CONFIG_FILE, NO_DISCOVERY, TARGETS_FILE } from '#app/config/file-rule.js';
import type { Rule } from '#app/rules/rule.js';
import { SETTINGS } from '#app/config/settings.js';
import type { Settings } from '#app/config/settings.js';
import { parseTargets } from '#app/config/targets-file.js';
import { parseToml } from '#app/document/toml-file.js';
import { settings } from './any-settings.js';
import { anyCharacter } from '../support/any-character.js';

const asToml = (values: Settings) =>
  Object.keys(SETTINGS)
    .map((as) => `${keyOf(as)} = ${JSON.stringify(values[as as keyof Settings])}\n`)
    .join('');

describe('a reader of configuration', () => {
  it('reads the settings that a test wrote as TOML', () =>
    fc.assert(
      fc.property(settings, (values) => {
        const text = asToml(values).replaceAll('\u007f', '\\u007f');
        const { targets, discover, hostPage, metricScopes, ...read } = checked(
          parseToml('c', text),
          CONFIG_FILE,
        );
        expect(read).to.deep.equal(values);
        expect([targets, discover, metricScopes]).to.deep.equal([[], NO_DISCOVERY, []]);
        expect(hostPage.enabled).to.equal(false);
      }),
    ));

  /** Text that resembles a real file, so that parsers get beyond its beginning. */
  const scraps = fc
    .array(
      fc.oneof(
        fc.string({ unit: anyCharacter, maxLength: 4 }),
        fc.constantFrom(
          ...[
            '[',
            ']',
            '[[',
            ']]',
            '{',
            '}',
            '=',
            '.',
            ',',
            '"',
            '"""',
            "'",
            '#',
            '\n',
            '\r\n',
            ' ',
          ],
          ...['targets', 'app', 'classes', 'metric_scopes', 'metrics_port', '__proto__', 'target'],
          ...['"ads"', '["a"]', '9464', '1.5', 'true', '1979-05-27', '\\', 'app=', '[[targets]]\n'],
          ...['\napp = "ads"\n', '\nserver_key = "82"\n', '\ntarget app=ads server_key=82 '],
        ),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''));

  const readers: readonly (readonly [
    kind: string,
    parse: (file: string, text: string) => SettingsDocument,
    rule: Rule<unknown>,
  ])[] = [
    ['TOML', parseToml, CONFIG_FILE],
    ['legacy target', parseTargets, TARGETS_FILE],
  ];
  for (const [kind, parse, rule] of readers)
    it(`accepts random text in a ${kind} file, or rejects it with a position`, () =>
      fc.assert(
        fc.property(scraps, (text) => {
          try {
            checked(parse('f', text), rule);
          } catch (thrown) {
            if (!(thrown instanceof Fault)) throw thrown;
            expect(thrown.code).to.equal('CONFIG_INVALID');
            expect(thrown.message).to.match(/^f:\d+:\d+: ./);
          }
        }),
        { numRuns: 100 },
      ));

  it('accepts random arguments, or rejects them with an error', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.constantFrom(
              '--app',
              '--server-key',
              '--instance',
              '--metrics-port',
              '--debug',
              '-',
              '--',
              '--help',
            ),
          ),
        ),
        (argv) => {
          try {
            expect(parseArguments(argv, '0').kind).to.be.oneOf(['run', 'print']);
          } catch (thrown) {
            expect(thrown).to.be.instanceOf(Fault).with.property('code', 'USAGE');
          }
        },
      ),
    ));
});
