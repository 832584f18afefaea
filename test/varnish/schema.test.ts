// Tests which schemas of Varnish are read, and which are refused.
import { expect } from 'chai';
import fc from 'fast-check';
import { Fault } from '#app/errors.js';
import { parseSchema } from '#app/varnish/schema.js';
import { schemaJson } from './built-instance.js';
import type { BuiltField } from './built-instance.js';

const FIELDS: readonly BuiltField[] = [
  { name: 'happy', type: 'bitmap', format: 'bitmap' },
  { name: 'req' },
  { name: 'hdrbytes', format: 'bytes', index: 32 },
  { name: 'uptime', type: 'gauge', format: 'duration', index: 16 },
];

describe('A schema of Varnish', () => {
  it('has each value with its kind, unit, help and offset', () => {
    expect(parseSchema(schemaJson('vbe', FIELDS))).to.deep.equal({
      name: 'vbe',
      fields: [
        { name: 'happy', kind: 'bitmap', unit: '', help: 'Help of happy', at: 0 },
        { name: 'req', kind: 'counter', unit: '', help: 'Help of req', at: 8 },
        { name: 'hdrbytes', kind: 'counter', unit: 'bytes', help: 'Help of hdrbytes', at: 32 },
        { name: 'uptime', kind: 'gauge', unit: 'seconds', help: 'Help of uptime', at: 16 },
      ],
      bodyBytes: 40,
    });
  });

  const withField = (more: object): string =>
    schemaJson('vbe', [{ name: 'a' }, { name: 'b', ...more }]);
  const refused: readonly (readonly [string, string, string])[] = [
    ['is incomplete JSON', '{"version":', 'is no JSON'],
    ['is a list', '[]', 'is not a table'],
    [
      'has version 2',
      schemaJson('vbe', FIELDS).replace('"version":"1"', '"version":"2"'),
      'has a format version other than 1',
    ],
    ['has an empty name', schemaJson('', FIELDS), 'has no name'],
    ['has a blank in its name', schemaJson('a b', FIELDS), 'has no name'],
    ['has a list of values', '{"version":"1","name":"vbe","elem":[]}', 'has no table of values'],
    ['describes no value', schemaJson('vbe', []), 'describes 0 values'],
    ['has a double', withField({ ctype: 'double' }), 'has a value b that is not an integer'],
    [
      'has a histogram',
      withField({ type: 'histogram' }),
      'describes b with a type other than counter, gauge or bitmap',
    ],
    [
      'has a type named like a property of every JavaScript object',
      withField({ type: 'constructor' }),
      'describes b with a type other than counter, gauge or bitmap',
    ],
    [
      'has a value of format text',
      withField({ format: 'text' }),
      'describes b with a format other than integer, bytes, bitmap or duration',
    ],
    ['has a value without a description', withField({ oneliner: 1 }), 'has no description of b'],
    ['has two values at one offset', withField({ index: 0 }), 'has two values at one offset'],
    [
      'has a value at offset 12',
      withField({ index: 12 }),
      'has b at an offset that is not a multiple of 8, or is outside of a segment',
    ],
    [
      'has a value at offset -8',
      withField({ index: -8 }),
      'has b at an offset that is not a multiple of 8, or is outside of a segment',
    ],
    [
      'has a value at offset 2^40',
      withField({ index: 2 ** 40 }),
      'has b at an offset that is not a multiple of 8, or is outside of a segment',
    ],
    [
      'has an offset that is a text',
      withField({ index: '8' }),
      'has b at an offset that is not a multiple of 8, or is outside of a segment',
    ],
    [
      'describes a value under another name',
      withField({}).replace('"name":"b"', '"name":"c"'),
      'describes b under another name',
    ],
    [
      'has a value with a blank in its name',
      withField({}).replaceAll('"b"', '"b c"'),
      'has a value without a name',
    ],
  ];
  for (const [what, json, why] of refused)
    it(`that ${what} is refused`, () => {
      expect(() => parseSchema(json)).to.throw(Fault, new RegExp(`^${why}$`));
    });

  it('has only offsets inside its segment or is refused, whatever its content is', () => {
    const json = schemaJson('vbe', FIELDS);
    const edits = fc.array(
      fc.record({ at: fc.nat(json.length), cut: fc.nat(12), text: fc.string({ maxLength: 12 }) }),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(edits, (changes) => {
        let text = json;
        for (const { at, cut, text: more } of changes)
          text = text.slice(0, at) + more + text.slice(at + cut);
        try {
          const { fields, bodyBytes } = parseSchema(text);
          for (const { at } of fields)
            expect(at % 8 === 0 && at >= 0 && at < bodyBytes).to.equal(true);
        } catch (error) {
          expect(error).to.be.instanceOf(Fault);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('is refused if it is random JSON', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(() => parseSchema(json)).to.throw(Fault);
      }),
    );
  });

  it('is accepted with the maximum number of values, and refused with one more value', () => {
    const fields = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ name: `f${at}` }));
    expect(parseSchema(schemaJson('many', fields(4096))).fields).to.have.lengthOf(4096);
    expect(() => parseSchema(schemaJson('many', fields(4097)))).to.throw('describes 4097 values');
  });
});
