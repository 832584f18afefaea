// The rules of the text format, as tables.
import { expect } from 'chai';
import {
  headerText,
  joinLabels,
  labelsText,
  seriesText,
} from '#app/exposition/text/text-syntax.js';
import type { MetricType } from '#app/model.js';

describe('the text format 0.0.4', () => {
  const labels = [
    ['an empty list of labels as an empty string', {}, ''],
    ['a label with an empty value as an empty string', { a: '' }, ''],
    ['only labels with a value', { a: '', b: 'x', c: '' }, 'b="x"'],
    ['labels in the given order, separated by commas', { a: 'x', b: 'y' }, 'a="x",b="y"'],
    ['a quote in a label value with a backslash before it', { a: 'say "no"' }, 'a="say \\"no\\""'],
    ['a backslash in a label value as two backslashes', { a: 'back\\slash' }, 'a="back\\\\slash"'],
    ['a line feed in a label value as a backslash and n', { a: 'two\nlines' }, 'a="two\\nlines"'],
    ['a backslash and n in a label value as two backslashes and n', { a: '\\n' }, 'a="\\\\n"'],
    [
      'all other characters of a label value unchanged',
      { a: 'x{y="z"},\t#é€😀' },
      'a="x{y=\\"z\\"},\t#é€😀"',
    ],
  ] as const;
  for (const [title, given, text] of labels)
    it(`writes ${title}`, () => expect(labelsText(given)).to.equal(text));

  const helps = [
    ['an empty string', '', '# HELP x \n'],
    ['a quote unchanged', 'Say "no".', '# HELP x Say "no".\n'],
    ['a line feed as a backslash and n', 'Two\nlines.', '# HELP x Two\\nlines.\n'],
    ['a backslash as two backslashes', 'Back\\slash.', '# HELP x Back\\\\slash.\n'],
  ] as const;
  for (const [title, help, line] of helps)
    it(`writes ${title} in a HELP line`, () =>
      expect(headerText({ name: 'x', type: 'gauge', unit: '', help })).to.equal(
        `${line}# TYPE x gauge\n`,
      ));

  const types: Record<MetricType, string> = {
    counter: 'counter',
    gauge: 'gauge',
    histogram: 'histogram',
    summary: 'summary',
    info: 'gauge',
    stateset: 'gauge',
    unknown: 'untyped',
  };
  for (const [type, word] of Object.entries(types))
    it(`writes the type ${type} as ${word}`, () =>
      expect(headerText({ name: 'x', type: type as MetricType, unit: '', help: 'H' })).to.equal(
        `# HELP x H\n# TYPE x ${word}\n`,
      ));

  it('writes no braces if a series has no labels', () => {
    expect(seriesText('x', '')).to.equal('x');
    expect(seriesText('x', 'a="b"')).to.equal('x{a="b"}');
  });

  it('joins two label texts with a comma if neither is empty', () => {
    expect(joinLabels('a="b"', 'c="d"')).to.equal('a="b",c="d"');
    expect(joinLabels('', 'c="d"')).to.equal('c="d"');
    expect(joinLabels('a="b"', '')).to.equal('a="b"');
    expect(joinLabels('', '')).to.equal('');
  });
});
