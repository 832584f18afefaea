// Tests row kinds that are not part of the exporter: each needs only its own module and an entry in the
// list of kinds.
import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import { plainVariable } from '#app/catalogue/file/table.js';
import { TOTALS, VAR } from '#app/catalogue/kinds/row-kind.js';
import { rowOf } from '#app/catalogue/row.js';
import type { RowKind } from '#app/catalogue/kinds/row-kind.js';
import { ROW_KINDS } from '#app/catalogue/kinds/row-kinds.js';
import { Fault } from '#app/errors.js';
import { FakeSource } from '../../support/fake-source.js';
import { testView } from '../test-view.js';

/** One series per bit of an integer, labelled with the name of the bit. */
const bitmask: RowKind = {
  types: ['gauge'],
  must: { ...VAR, bits: 'an array of names of bits' },
  matches: (table) => table.has('bits'),
  read(table, fields) {
    const names = table.texts('bits');
    if (names.length > 64) table.problems.add(table.at('bits'), 'must be at most 64 names');
    return rowOf(fields, {
      inputs: [{ variable: plainVariable(table, 'var'), types: ['u64', 'i64'] }],
      ownLabels: ['bit'],
      isComputed: true,
      linesOf: () => names.length,
      series(context) {
        const text = context.text(context.variable);
        if (text === undefined) return [];
        const bits = BigInt(text);
        return names.map((bit, at) => ({
          labels: { bit },
          value: Number((bits >> BigInt(at)) & 1n),
        }));
      },
    });
  },
};

/** The difference of two finite numbers. */
const difference: RowKind = {
  types: ['gauge'],
  must: { ...VAR, less: 'the name of a variable' },
  matches: (table) => table.has('less'),
  read(table, fields) {
    const [variable, less] = [plainVariable(table, 'var'), plainVariable(table, 'less')];
    return rowOf(fields, {
      inputs: [variable, less].map((each) => ({ variable: each, types: TOTALS })),
      ownLabels: [],
      isComputed: true,
      linesOf: () => 1,
      series(context) {
        const [from, by] = [variable, less].map((name) => {
          const named = context.named(name);
          return named && context.text(named);
        });
        return from === undefined || by === undefined ? [] : [{ value: Number(from) - Number(by) }];
      },
    });
  },
};

const catalogue = (rows: string) =>
  parseCatalogue(
    {
      text: `app = "shop"\n[[classes]]\nalias = "shop"\nclass_ids = ["Shop"]\npaths = ["@root"]\nmetrics = [${rows}]`,
      file: 'shop.toml',
    },
    [bitmask, difference, ...ROW_KINDS],
  );
const DOORS =
  '{ name = "shop_door_open", type = "gauge", help = "Help.", var = "doors", bits = ["front", "back"] },';

describe('an added row kind', () => {
  it('is read from a catalogue beside the built-in kinds, and its series follow the values', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const doors = source.addVariable(root, 'doors', { type: 'u64', value: 2 });
    const plain = '{ name = "shop_doors", type = "gauge", help = "Help.", var = "doors" },';
    const { lines } = testView(source, root, { catalogue: catalogue(DOORS + plain) });
    const open = (front: number, back: number) => [
      `shop_door_open{bit="front"} ${front}`,
      `shop_door_open{bit="back"} ${back}`,
    ];
    expect(lines()).to.deep.equal([...open(0, 1), 'shop_doors 2']);
    source.set(doors, 3);
    expect(lines()).to.deep.equal([...open(1, 1), 'shop_doors 3']);
    source.remove(doors);
    expect(lines()).to.deep.equal([]);
  });

  it('shows no series while its variable has the wrong type', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    source.addVariable(root, 'doors', { type: 'string', value: 'open' });
    const { lines } = testView(source, root, { catalogue: catalogue(DOORS) });
    expect(lines()).to.deep.equal([]);
    source.addVariable(root, 'doors', { type: 'u64', value: 2 });
    expect(lines()).to.deep.equal([
      'shop_door_open{bit="front"} 0',
      'shop_door_open{bit="back"} 1',
    ]);
  });

  it('shows no series while its second variable has the wrong type', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const staff = source.addVariable(root, 'in', { type: 'i64', value: 10 });
    source.addVariable(root, 'out', { type: 'string', value: 'three' });
    const row =
      '{ name = "shop_inside", type = "gauge", help = "Help.", var = "in", less = "out" },';
    const { lines } = testView(source, root, { catalogue: catalogue(row) });
    expect(lines()).to.deep.equal([]);
    source.addVariable(root, 'out', { type: 'i64', value: 3 });
    expect(lines()).to.deep.equal(['shop_inside 7']);
    source.set(staff, 11);
    expect(lines()).to.deep.equal(['shop_inside 8']);
  });

  const wrong: [string, string][] = [
    [DOORS.replace('"gauge"', '"stateset"'), 'the keys of its row are for type gauge'],
    [DOORS.replace(' var = "doors",', ''), 'metrics[0].var: found nothing, needed'],
    [DOORS.replace('bits', 'scale = 2, bits'), 'scale: is not allowed for'],
    [DOORS.replace('bits', 'static = { bit = "x" }, bits'), 'gives the label "bit" twice'],
    [DOORS.replace('"back"', '"back", 7'), 'bits[2]: found 7, allowed: a string'],
  ];
  for (const [row, message] of wrong)
    it(`rejects a wrong row with the message "${message}"`, () =>
      expect(() => catalogue(row)).to.throw(Fault, message));

  it('is unknown to a parser whose list of kinds lacks it', () => {
    const text = `app = "shop"\nclasses = [{ alias = "a", class_ids = ["A"], paths = ["a"], metrics = [${DOORS}] }]`;
    expect(() => parseCatalogue({ text, file: 'shop.toml' })).to.throw(Fault, 'bits: unknown key');
  });
});

describe('a row of a catalogue', () => {
  it('does not expose its kind', () => {
    for (const { classes } of loadCatalogues().values())
      for (const row of classes.flatMap(({ rows }) => rows))
        expect(Object.keys(row)).not.to.include.members(['kind']);
  });
});
