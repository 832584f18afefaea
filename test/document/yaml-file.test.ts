// Tests reading YAML files: raw values and the position of each.
import { expect } from 'chai';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { parseYaml } from '#app/document/yaml-file.js';
import { faultMessage } from '../support/fault-message.js';
import { anyCharacter } from '../support/any-character.js';

describe('parseYaml', () => {
  it('reads tables, lists, strings, booleans and integers', () =>
    expect(parseYaml('w.yml', 'a: {b: [x, true, 7]}\nc: 1.5\n').values).to.deep.equal({
      a: { b: ['x', true, 7n] },
      c: 1.5,
    }));

  it('returns no values for an empty file or a key without a value', () => {
    expect(parseYaml('w.yml', '').values).to.deep.equal({});
    expect(parseYaml('w.yml', '# nothing\n').values).to.deep.equal({});
    expect(parseYaml('w.yml', 'a:\nb: 1\n').values).to.deep.equal({ b: 1n });
  });

  it('returns the position of each key and value', () => {
    const { places } = parseYaml('w.yml', 'a:\n  b: x\n  c:\n    - 1\n    - 2\n');
    const at = (path: readonly (string | number)[], part: 'key' | 'value') =>
      places.at(places.offset(path, part) ?? -1);
    expect(at(['a', 'b'], 'key')).to.equal('w.yml:2:3');
    expect(at(['a', 'b'], 'value')).to.equal('w.yml:2:6');
    expect(at(['a', 'c', 1], 'value')).to.equal('w.yml:5:7');
    expect(at(['a', 'missing'], 'key'), 'at the head of its parent').to.equal('w.yml:1:1');
  });

  for (const [what, text, message] of [
    ['a text that is not YAML', 'a: [1,\nb', /^w\.yml:\d+:\d+: [^\n]+$/],
    ['a key that is repeated', 'a: 1\na: 2', /^w\.yml:2:1: Map keys must be unique/],
    ['an alias, because a short text could expand to a huge one', 'a: &x [1]\nb: *x', /aliases/],
    [
      'a second document',
      'a: 1\n---\na: 2',
      /^w\.yml:2:1: a second document begins here, allowed: one document$/,
    ],
    ['a tag that is unknown', 'a: !!js/function x', /tag/i],
    [
      'a key that is indented more than the one before',
      'tls:\n cert_file: a\n  key_file: b\n',
      /^w\.yml:2:13: wrong indentation, or a second ":" in the line; allowed: /,
    ],
    [
      'a key that is indented less than the one before',
      'tls:\n   cert_file: a\n  key_file: b\n',
      /^w\.yml:3:1: wrong indentation, or a bracket that is not closed; allowed: /,
    ],
    ['a key that is indented less than the first', ' a: 1\nb: 2\n', /^w\.yml:2:1: .*indentation/],
    [
      'two keys in one line',
      'tls: cert_file: a\n',
      /^w\.yml:1:6: wrong indentation, or a second ":"/,
    ],
    ['a tab', 'tls:\n\tcert_file: a\n', /^w\.yml:2:1: found a tab, allowed: .* spaces$/],
    ['a key without a colon', 'users\n  a: b\n', /^w\.yml:1:1: a key without a value: .*allowed: /],
    [
      'a key without a space after its colon',
      'a:\n  cert_file:b\n  key_file: c\n',
      /^w\.yml:2:3: a key without a value: found no ": " in this line/,
    ],
  ] as const)
    it(`rejects ${what}`, () =>
      expect(faultMessage('CONFIG_INVALID', () => parseYaml('w.yml', text))).to.match(message));

  const SECRET = 'hunter2SECRET';
  const PIECES = [
    SECRET,
    ...'!&*%@`|>-?:,[]{}#"\'\\ \n\t'.split(''),
    '\n  ',
    ': ',
    'a: ',
    '!!',
    '%YAML ',
  ];
  it('quotes nothing from the file in error messages, because it may contain secrets', () => {
    const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 16 });
    const quoting = texts.filter((pieces) => {
      try {
        parseYaml('w.yml', pieces.join(''));
        return false;
      } catch {
        return true;
      }
    });
    fc.assert(
      fc.property(quoting, (pieces) => {
        const message = faultMessage('CONFIG_INVALID', () => parseYaml('w.yml', pieces.join('')));
        expect(message).not.to.contain(SECRET);
      }),
      { numRuns: 100 },
    );
  });

  it('throws only its own errors for any text', () =>
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), (text) => {
        try {
          parseYaml('w.yml', text);
        } catch (thrown) {
          expect(thrown).to.have.property('code', 'CONFIG_INVALID');
        }
      }),
    ));

  it('returns random values that were written as YAML', () => {
    const value = fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
    );
    const tables = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(value, fc.array(value)),
    );
    fc.assert(
      fc.property(tables, (values) => {
        expect(parseYaml('w.yml', stringify(values)).values).to.deep.equal({ ...values });
      }),
    );
  });
});
