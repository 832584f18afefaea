// Tests arbitrary mixtures of valid and invalid values: each is accepted as a whole or rejected key by key.
import fc from 'fast-check';
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { SCOPE, TARGET } from '#app/config/file-rule.js';
import { loadConfig } from '#app/config/resolve.js';
import { SETTINGS, targetSettings } from '#app/config/settings.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { settings } from './any-settings.js';

/** A line of TOML. `broken` is the key path that its error must name; undefined if the line is valid. */
interface Line {
  readonly text: string;
  readonly broken?: string;
  /** The line with its error corrected. */
  readonly mended: string;
}

/** TOML values that every key rejects. For a list, the error names the item. */
const BROKEN = ['1979-05-27', 'inf', '[[]]', '-1.5', '"\\u0000"'];
/** A value that every key rejects, except the settings of a format. */
const TABLE = '{ a = 1 }';

const toml = (value: unknown): string => JSON.stringify(value).replaceAll('\u007f', '\\u007f');

/**
 * Generates a line for a key: with a valid value, with an invalid value, or without the key. A line without a
 * required key is an error.
 */
const line = (path: string, key: string, value: unknown, isRequired: boolean) => {
  const mended = `${key} = ${toml(value)}`;
  const whole: Line = { text: mended, mended };
  const missing: Line = { text: '', mended, ...(isRequired && { broken: `${path}${key}` }) };
  const wrong = key === 'format_settings' ? BROKEN : [...BROKEN, TABLE];
  const broken = fc.constantFrom(...wrong).map((raw): Line => {
    const item = raw.startsWith('[') && Array.isArray(value) ? '[0]' : '';
    return { text: `${key} = ${raw}`, mended, broken: `${path}${key}${item}` };
  });
  return fc.oneof(
    { arbitrary: fc.constant(whole), weight: 8 },
    { arbitrary: broken, weight: 1 },
    { arbitrary: fc.constant(missing), weight: 1 },
  );
};

const DEFAULTS = loadConfig({ overrides: {} }).settings;

const plain = (text: string): Line => ({ text, mended: text });

const unknown = (path: string): fc.Arbitrary<Line> =>
  fc
    .option(fc.constantFrom('zz', 'appp', '"a b"'))
    .map((key) =>
      key === null ? plain('') : { text: `${key} = 1`, mended: '', broken: `${path}${key}` },
    );

type Table = Readonly<Record<string, { readonly fallback: unknown }>>;

const body = (path: string, table: Table, values: Readonly<Record<string, unknown>>) =>
  fc.tuple(
    unknown(path),
    ...Object.entries(table).map(([name, { fallback }]) =>
      line(path, keyOf(name), values[name], fallback === undefined),
    ),
  );

const tables = (
  head: string,
  table: Table,
  values: (index: number) => Readonly<Record<string, unknown>>,
) =>
  fc
    .nat(3)
    .chain((count) =>
      fc.tuple(
        ...Array.from({ length: count }, (_, index) =>
          body(`${head}[${index}].`, table, values(index)).map((lines) => [
            plain(`[[${head}]]`),
            ...lines,
          ]),
        ),
      ),
    );

const files: fc.Arbitrary<readonly Line[]> = fc
  .tuple(
    settings.chain((values) => body('', SETTINGS, values)),
    tables('targets', TARGET, (index) => ({
      ...targetSettings(DEFAULTS),
      ...{ serverKey: `${index}`, variable: 'v', classes: ['c'], seedPaths: ['p', 'q'] },
      ...{ showUncatalogued: true, pathLabels: ['{l}'], publisherTimeZone: 'UTC' },
    })),
    tables('metric_scopes', SCOPE, (index) => ({ name: `s${index}`, metrics: ['ads_*'] })),
    fc.boolean(),
  )
  .map(([top, targets, scopes, isMended]) => {
    const lines = [top, targets.flat(), scopes.flat()].flat();
    return isMended ? lines.map(({ mended }) => plain(mended)) : lines;
  });

const isFrozen = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(isFrozen));

describe('loadConfig', () => {
  const folder = temporaryFolder();

  it('returns a frozen object for a valid file, and reports for an invalid file each invalid key once, with its line', () => {
    let taken = 0;
    let refused = 0;
    fc.assert(
      fc.property(files, (lines) => {
        const configFile = folder.write('c.toml', lines.map(({ text }) => text).join('\n'));
        const load = () => loadConfig({ configFile, overrides: {} });
        const broken = lines.flatMap((each) => each.broken ?? []);
        if (broken.length === 0) {
          taken++;
          expect(isFrozen(load())).to.equal(true);
          return;
        }
        refused++;
        const told = folder
          .bare(faultMessage('CONFIG_INVALID', load))
          .replace(/ \(--[\w.-]+\): /g, ': ')
          .split('\n');
        const named = told.map((each) => {
          const [, number = '', path = ''] =
            /^c\.toml:(\d+):\d+: ((?:"[^"]*"|[^:"])+): ./.exec(each) ?? [];
          return [Number(number), path] as const;
        });
        expect(named.map(([, path]) => path))
          .to.have.members(broken)
          .and.have.lengthOf(broken.length);
        for (const [number, path] of named) {
          const { text = '' } = lines[number - 1] ?? {};
          const key = path.replace(/\[0\]$/, '').replace(/^\w+\[\d\]\./, '');
          const head = path.replace(/\[\d\].*$/, '');
          expect(
            text.startsWith(`${key} = `) || text === `[[${head}]]`,
            `${path} at ${text}`,
          ).to.equal(true);
        }
      }),
      { numRuns: 50 },
    );
    expect(taken, 'files taken').to.be.greaterThan(0);
    expect(refused, 'files refused').to.be.greaterThan(0);
  });
});
