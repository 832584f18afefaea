// Tests labels from server keys: the setting `labels_from` of `[discover]`.
import { expect } from 'chai';
import fc from 'fast-check';
import { compileKeyLabels, keyPattern } from '#app/config/key-labels.js';
import { loadConfig } from '#app/config/resolve.js';
import { checkStart } from '#app/exporter/check-start.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ALLOWED =
  'allowed: a server key with 1 to 8 different labels in braces, such as "shop-{store}"; or ""';

describe('labels from server keys', () => {
  const matches: readonly (readonly [pattern: string, key: string, labels: object])[] = [
    ['shop-{store}', 'shop-7', { store: '7' }],
    ['shop-{store}', 'shop-7-b', { store: '7-b' }],
    ['shop-{store}', 'shop-', {}],
    ['shop-{store}', 'shop', {}],
    ['shop-{store}', 'my-shop-7', {}],
    ['{store}', '7', { store: '7' }],
    ['{store}-shop', '7-shop', { store: '7' }],
    ['{store}-shop', '7-shop-2', {}],
    ['{store}-shop', '7-shop-shop', { store: '7-shop' }],
    ['s{store}t{till}', 's1t2', { store: '1', till: '2' }],
    ['s{store}t{till}', 'stt2', { store: 't', till: '2' }],
    ['{a}-{b}-{c}', '1-2-3-4', { a: '1', b: '2', c: '3-4' }],
    ['{a}-{b}', '-1-2', { a: '-1', b: '2' }],
    ['{a}-{b}.x', '1-2.x.x', { a: '1', b: '2.x' }],
    ['', 'shop-7', {}],
  ];
  for (const [pattern, key, labels] of matches)
    it(`of the pattern "${pattern}" for the key "${key}" are ${JSON.stringify(labels)}`, () =>
      expect(compileKeyLabels(pattern)(key)).to.deep.equal(labels));

  it('are the texts that a key was made of', () => {
    const value = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    const separator = fc.stringMatching(/^[-_.]{1,3}$/);
    const parts = fc.array(fc.tuple(value, separator), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(separator, parts, (start, pairs) => {
        const pattern = start + pairs.map(([, after], index) => `{l${index}}${after}`).join('');
        const key = start + pairs.flat().join('');
        const report = (_path: unknown, sentence: string) => expect.fail(sentence);
        expect(keyPattern.read(pattern, [], report)).to.equal(pattern);
        expect(compileKeyLabels(pattern)(key)).to.deep.equal(
          Object.fromEntries(pairs.map(([text], index) => [`l${index}`, text])),
        );
      }),
    );
  });

  const RESERVED = 'app, server_key, root, hint, twin, format, instance, job, le, quantile';
  const refused: readonly (readonly [pattern: string, found: string])[] = [
    ['shop', '"shop" without a label'],
    ['shop {a}', '"shop {a}"'],
    ['shop-{a', '"shop-{a"'],
    ['shop-{a}}', '"shop-{a}}"'],
    ['shop-{}', 'the label ""'],
    ['shop-{a-b}', 'the label "a-b"'],
    ['shop-{__a}', 'the label "__a"'],
    ...['app', 'job', 'le'].map((label): [string, string] => [
      `shop-{${label}}`,
      `the label "${label}", which is reserved, as are ${RESERVED}`,
    ]),
    ['{a}-{a}', 'the label "a" twice'],
    ['{a}{b}', 'two labels without a text between them in "{a}{b}"'],
    [Array.from({ length: 9 }, (_, at) => `{a${at}}`).join('-'), '9 labels'],
  ];
  for (const [pattern, found] of refused)
    it(`cannot have the pattern "${pattern}"`, () => {
      let told = '';
      keyPattern.read(pattern, [], (_path, sentence) => (told = sentence));
      expect(told).to.equal(`found ${found}, ${ALLOWED}`);
    });

  describe('in a configuration', () => {
    const folder = temporaryFolder();
    const file = (text: string) => folder.write('c.toml', text);

    it('cannot have the name of a label of [host_page]', () => {
      const configFile = file(
        '[discover]\nvarnish = true\nlabels_from = "{cache}"\n[host_page]\nserver_key_label = "cache"\n',
      );
      const load = () => loadConfig({ configFile, overrides: {} });
      expect(folder.bare(faultMessage('CONFIG_INVALID', load))).to.equal(
        'c.toml:3:15: discover.labels_from: found the label "cache", which [host_page] gives all targets, allowed: another name',
      );
    });

    it('cause a warning if Prometheus or its service discovery sets them, too', () => {
      const configFile = file('[discover]\nvarnish = true\nlabels_from = "{pod}"\n');
      const { warnings } = checkStart({ configFile, overrides: {} }, new Date(0), 'UTC');
      expect(warnings.map(folder.bare)).to.deep.equal([
        'c.toml:3:15: discover.labels_from: the label "pod" is also a label of targets under the Prometheus Operator; set honor_labels: true in the scrape job, or rename the label',
      ]);
    });
  });
});
