// Tests the names of variables that state a metric and labels.
import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_LABELS, parseSeriesName, seriesName } from '#app/native/segment/series-name.js';
import type { ValueType } from '#app/published.js';

const many = Array.from({ length: MAX_LABELS + 1 }, (_, index) => `l${index}="1"`).join(',');
const NAME_RULE = 'letters, digits, _ and :, not starting with a digit';
const LABEL_RULE = 'letters, digits and _, not starting with a digit or __';
const SYNTAX =
  'a metric name, and labels such as {code="200"} with a backslash before ", backslash and n';

describe('The name of a series', () => {
  for (const [text, name, labels] of [
    ['up', 'up', {}],
    ['vllm:tokens_total', 'vllm:tokens_total', {}],
    ['a{b="c"}', 'a', { b: 'c' }],
    ['a{b="c",d="e"}', 'a', { b: 'c', d: 'e' }],
    ['a{b=""}', 'a', { b: '' }],
    ['a{b="{c=\\"d\\",e}"}', 'a', { b: '{c="d",e}' }],
    ['a{b="1\\\\2\\n3"}', 'a', { b: '1\\2\n3' }],
    ['a{le="1"}', 'a', { le: '1' }],
    ['a{b="ü\u{1f600}"}', 'a', { b: 'ü\u{1f600}' }],
  ] as const)
    it(`is valid: ${text}`, () =>
      expect(parseSeriesName(text, 'u64')).to.deep.equal({ name, labels }));

  const invalid: readonly [text: string, fault: string, type?: ValueType][] = [
    ['', `has the metric name "", allowed: ${NAME_RULE}`],
    ['1a', `has the metric name "1a", allowed: ${NAME_RULE}`],
    ['a b', `has the metric name "a b", allowed: ${NAME_RULE}`],
    ['ä', `has the metric name "ä", allowed: ${NAME_RULE}`],
    [
      'shm_exporter_x',
      'has the metric name "shm_exporter_x", allowed: names that do not begin with shm_exporter_',
    ],
    ['a{', `is "a{", allowed: ${SYNTAX}`],
    ['a{}', `is "a{}", allowed: ${SYNTAX}`],
    ['a{b="c"', `is "a{b=\\"c\\"", allowed: ${SYNTAX}`],
    ['a{b="c",}', `is "a{b=\\"c\\",}", allowed: ${SYNTAX}`],
    ['a{b=c}', `is "a{b=c}", allowed: ${SYNTAX}`],
    ['a{b="c\nd"}', `is "a{b=\\"c\\nd\\"}", allowed: ${SYNTAX}`],
    ['a{b="\\t"}', `is "a{b=\\"\\\\t\\"}", allowed: ${SYNTAX}`],
    ['a{b="c"} ', 'is "a{b=\\"c\\"} ", allowed: nothing after }'],
    ['a{ b="c"}', `has the label name " b", allowed: ${LABEL_RULE}`],
    ['a{__b="c"}', `has the label name "__b", allowed: ${LABEL_RULE}`],
    ['a{1="c"}', `has the label name "1", allowed: ${LABEL_RULE}`],
    ['a{b="c",b="d"}', 'has the label b twice'],
    [`a{${many}}`, `has more than ${MAX_LABELS} labels`],
    ['a{le="1"}', 'has the label le, which a histogram adds itself', 'histogram'],
    ['a{quantile="1"}', 'has the label quantile, which a summary adds itself', 'summary'],
    ['a', 'has the type string, allowed: the types of numbers', 'string'],
  ];
  for (const [text, fault, type = 'u64'] of invalid)
    it(`is invalid: ${JSON.stringify(text.slice(0, 40))} of type ${type}`, () =>
      expect(parseSeriesName(text, type)).to.equal(fault));

  const word = fc.stringMatching(/^[a-z][a-zA-Z0-9_]{0,8}$/);
  it('reads back as it was written', () => {
    fc.assert(
      fc.property(word, fc.dictionary(word, fc.string({ unit: 'binary' })), (name, labels) => {
        expect(parseSeriesName(seriesName(name, labels), 'f64')).to.deep.equal({
          name,
          labels: { ...labels },
        });
      }),
    );
  });

  it('is read without an error whatever the text', () => {
    const part = fc.oneof(fc.constantFrom('{', '}', '"', ',', '=', '\\', '\n', 'a'), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const read = parseSeriesName(parts.join(''), 'u64');
        if (typeof read !== 'string')
          expect(seriesName(read.name, read.labels)).to.equal(parts.join(''));
      }),
    );
  });
});
