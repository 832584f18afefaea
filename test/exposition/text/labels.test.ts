// Names and labels of series: decodeSeries reads the text that seriesText writes.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeSeries,
  joinLabels,
  labelsText,
  samplesIn,
  seriesText,
  textOf,
} from '#app/exposition/text/text-syntax.js';
import { anyCharacter } from '../../support/any-character.js';

const name = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,12}$/);
const labelName = fc.oneof(
  fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/),
  fc.constantFrom('__proto__', 'constructor', 'le'),
);
const awkward = fc.constantFrom(
  ...['"', '\\', '\n', '\r', ',', '{', '}', ' ', '=', 'n', '\\n', '="', '",', '"} 1\n'],
  ...['\u2028', '\u2029', '\0', '\ud800', '\udc00', '\u{1f600}', '\ufeff'],
);
const labelValue = fc.oneof(
  fc.array(awkward, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: anyCharacter, minLength: 1 }),
);
const labels = fc.dictionary(labelName, labelValue, { maxKeys: 5 });
const value = fc.constantFrom('1', '-0', '1e+21', 'NaN', '+Inf', '18446744073709551615');

describe('the decoder of series', () => {
  it('reads the name and every label of an encoded series', () => {
    fc.assert(
      fc.property(name, labels, (metric, pairs) => {
        const series = seriesText(metric, labelsText(pairs));
        expect(decodeSeries(series)).to.deep.equal({ name: metric, labels: { ...pairs } });
        expect(Object.entries(decodeSeries(series).labels)).to.deep.equal(Object.entries(pairs));
      }),
      { numRuns: 100 },
    );
  });

  it('reads labels that were joined from two texts', () => {
    const series = seriesText('a', joinLabels(labelsText({ b: '","' }), labelsText({ c: '\\' })));
    expect(decodeSeries(series)).to.deep.equal({ name: 'a', labels: { b: '","', c: '\\' } });
  });

  it('returns a result even for text without a valid series', () => {
    for (const series of ['', '{', 'a{b', 'a{b=', 'a{b="', 'a{b="c', 'a{b="c\\"}', '="', 'a{"}'])
      expect(decodeSeries(series), series).to.have.keys('name', 'labels');
  });
});

describe('lines', () => {
  const sample = fc.record({ name, labels, value });
  const lineOf = ({
    name: metric,
    labels: pairs,
    value: text,
  }: typeof sample extends fc.Arbitrary<infer T> ? T : never) =>
    `${seriesText(metric, labelsText(pairs))} ${text}\n`;

  it('are parsed as samples, even from shared memory', () => {
    fc.assert(
      fc.property(fc.array(fc.array(sample)), (groups) => {
        const buffers = groups.map((samples) => {
          const bytes = Buffer.from(samples.map(lineOf).join(''));
          const shared = new Uint8Array(new SharedArrayBuffer(bytes.length + 3), 3);
          shared.set(bytes);
          return shared;
        });
        const wellFormed = groups.flat().map((each) => ({
          ...each,
          // A lone surrogate has no UTF-8 encoding.
          labels: Object.fromEntries(
            Object.entries(each.labels).map(([key, text]) => [key, text.toWellFormed()]),
          ),
        }));
        const read = buffers.flatMap((data) => [...samplesIn(textOf({ data }))]);
        expect(read).to.deep.equal(wellFormed);
      }),
      { numRuns: 100 },
    );
  });
});
