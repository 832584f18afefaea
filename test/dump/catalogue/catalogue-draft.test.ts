// Property test: the draft for any published tree is a valid catalogue.
import { expect } from 'chai';
import fc from 'fast-check';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import { catalogueDraft } from '#app/dump/catalogue/catalogue-draft.js';
import type { SeenClass, SeenVariable } from '#app/dump/catalogue/survey.js';
import { hostileText } from '../../support/hostile-text.js';

const nameable = (text: string): boolean => /^[^\p{Cc}\p{Cs}{}]{1,512}$/u.test(text);
const name = fc
  .oneof(
    hostileText,
    fc
      .array(
        fc.constantFrom(
          ...['total', 'count', 'bytes', 'sent', 'ms', 'info', 'job', 'till', '.', '1', '2', ' '],
          ...['Sum', 'percent', 's', 'seconds', 'le', '_', 'gauge', 'created', 'bits', 'é', '"'],
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((words) => words.join('')),
  )
  .filter(nameable);

const variable: fc.Arbitrary<SeenVariable> = fc.record({
  name: name.filter((text) => text !== '@state'),
  type: fc.constantFrom('u64', 'i64', 'f64', 'bool', 'string', 'histogram', 'summary'),
  kind: fc.constantFrom('unknown', 'counter', 'gauge'),
  unit: fc.oneof(fc.constantFrom('', 'ms', 'bytes', '%', 'pieces', 'total', 'bits'), hostileText),
  help: fc.oneof(fc.constantFrom('', ' ', 'Says "what".\nMore.'), hostileText),
  isTime: fc.boolean(),
});

const segment = fc.oneof(
  hostileText,
  fc.constantFrom('', 'a', 'b1', '1', 'floors', '{x}', '@root'),
);

const seen: fc.Arbitrary<SeenClass> = fc
  .record({
    className: name,
    segments: fc.array(fc.uniqueArray(segment, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    variables: fc.uniqueArray(variable, { selector: (each) => each.name, maxLength: 12 }),
  })
  .map(({ className, segments, variables }) => ({
    className,
    segments: segments.map((texts) => new Set(texts.map((text) => text.replaceAll('.', '')))),
    variables: new Map(variables.map((each) => [each.name, each])),
  }));

describe('A drafted catalogue', () => {
  it('is valid, and has a row for every number', () =>
    fc.assert(
      fc.property(fc.array(seen, { maxLength: 6 }), name, (classes, application) => {
        const draft = catalogueDraft({ classes, omitted: 0 }, { ...ORIGIN, application });
        const text = [...draft].join('\n');
        const catalogue = parseCatalogue({ text, file: 'draft.toml' });
        const reads = catalogue.classes.flatMap(({ rows }) => rows.flatMap((row) => row.inputs));
        const numbers = classes
          .flatMap(({ variables }) => [...variables.values()])
          .filter(({ type }) => type !== 'string');
        for (const number of numbers)
          expect(
            reads.some(
              ({ variable: read, pattern }) =>
                read === number.name || pattern?.capture(number.name) !== undefined,
            ),
            number.name,
          ).to.equal(true);
        expect(text).not.to.match(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
      { numRuns: 30 },
    ));

  const ORIGIN = { segment: 's.pool.1', root: 'h.1.shop', moreRoots: 0, application: 'shop' };

  it('of an empty tree is valid', () => {
    const text = [...catalogueDraft({ classes: [], omitted: 0 }, ORIGIN)].join('\n');
    expect(parseCatalogue({ text, file: 'draft.toml' })).to.include({ app: 'shop' });
  });

  it('states the number of omitted items, and stays below the size limit of a catalogue', () => {
    const classes = Array.from({ length: 400 }, (_, i): SeenClass => {
      const variables = Array.from({ length: 20 }, (__, k): readonly [string, SeenVariable] => [
        `v${k}`,
        {
          ...{ name: `v${k}`, type: 'u64', kind: 'gauge', unit: '', isTime: false },
          help: 'x'.repeat(300),
        },
      ]);
      return { className: `C${i}`, segments: [], variables: new Map(variables) };
    });
    const text = [...catalogueDraft({ classes, omitted: 5 }, ORIGIN)].join('\n');
    expect(Buffer.byteLength(text)).to.be.within(900_000, 1 << 20);
    expect(text).to.match(/\n# Left out: [\d,]+ objects and variables/);
    expect(parseCatalogue({ text, file: 'draft.toml' }).classes.length).to.be.within(100, 399);
  });
});
