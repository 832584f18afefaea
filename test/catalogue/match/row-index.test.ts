import { expect } from 'chai';
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import { indexRows, objectPath } from '#app/catalogue/match/row-index.js';
import type { ManagedObject } from '#app/model.js';
import { placed } from '../placed.js';

const CATALOGUE = `
app = "x"
[[classes]]
alias = "process"
class_ids = ["P"]
paths = ["@root"]
metrics = [
  { name = "x_state", type = "stateset", help = "H", var = "@state" },
  { name = "x_child", type = "gauge", help = "H", var = "v", at = "deep.child", class_id = "K" },
]
[[classes]]
alias = "mount"
class_ids = ["M", "M2"]
paths = ["db.{mount~m[0-9]+}", "old.{mount}"]
metrics = [
  { name = "x_mount_sent_total", type = "counter", help = "H", var = "sent.{port}", static = { way = "out" } },
  { name = "x_mount_items", type = "gauge", help = "H", var = "items" },
  { name = "x_mount_size", type = "summary", help = "H", sum_var = "bytes", count_var = "items" },
  { name = "x_mount_login_info", type = "info", help = "H", at = "attributes", class_id = "A", labels_from = { login = "name", host = "host" } },
]
[[classes]]
alias = "also_mount"
class_ids = ["M"]
paths = ["db.{mount}"]
metrics = [{ name = "x_also", type = "gauge", help = "H", var = "items" }]
`;

describe('the rows of a catalogue', () => {
  const rowIndex = indexRows(parseCatalogue({ text: CATALOGUE, file: 'x.toml' }));
  const aliases = (...place: Parameters<typeof placed>) =>
    rowIndex.rowsFor(placed(...place)).map(({ classRows, labels }) => [classRows.alias, labels]);

  const reads: [string, Parameters<typeof placed>, [string, object][]][] = [
    ['the root', ['P', ''], [['process', {}]]],
    [
      'an object that belongs to two classes of the catalogue',
      ['M', 'db.m1'],
      [
        ['mount', { mount: 'm1' }],
        ['also_mount', { mount: 'm1' }],
      ],
    ],
    [
      'an object with the second class id of a class',
      ['M2', 'db.m1'],
      [['mount', { mount: 'm1' }]],
    ],
    ['an object at the second path of a class', ['M', 'old.x y'], [['mount', { mount: 'x y' }]]],
    [
      'a child of an object that they match',
      ['A', 'db.m1.attributes', { 'db.m1': 'M2' }],
      [['mount', { mount: 'm1' }]],
    ],
    ['a grandchild of the root', ['K', 'deep.child', { '': 'P' }], [['process', {}]]],
  ];
  for (const [what, place, wanted] of reads)
    it(`match ${what}`, () => {
      expect(aliases(...place)).to.deep.equal(wanted);
      expect(rowIndex.reads(placed(...place))).to.equal(true);
    });

  const leaves: [string, Parameters<typeof placed>][] = [
    ['an unknown class', ['Z', 'db.m1']],
    ['a known class at another path', ['M2', 'db.x']],
    ['a child whose parent does not exist', ['A', 'db.m1.attributes']],
    ['a child whose parent is of another class', ['A', 'db.m1.attributes', { 'db.m1': 'Z' }]],
    ['a grandchild with an unexpected parent', ['K', 'deep.child', { deep: 'P' }]],
    ['a root of another class', ['M', '']],
  ];
  for (const [what, place] of leaves)
    it(`do not match ${what}`, () => {
      expect(aliases(...place)).to.deep.equal([]);
      expect(rowIndex.reads(placed(...place))).to.equal(false);
    });

  it('are the same for all objects of one class', () => {
    const [one] = rowIndex.rowsFor(placed('M2', 'db.m1'));
    const [two] = rowIndex.rowsFor(placed('M2', 'old.m2'));
    expect(one?.classRows).to.equal(two?.classRows);
    expect(two?.labels).to.deep.equal({ mount: 'm2' });
  });

  const series = (variable: string): [string, object][] => {
    const [found] = rowIndex.rowsFor(placed('M2', 'db.m1'));
    if (found === undefined) throw new Error('no rows');
    return found.classRows
      .matchesOf(variable)
      .map((use) => [
        use.row.family.name,
        { ...found.labels, ...use.nameLabels, ...use.row.labels },
      ]);
  };

  it('are listed for a variable in the order of the file', () => {
    expect(series('items')).to.deep.equal([
      ['x_mount_items', { mount: 'm1' }],
      ['x_mount_size', { mount: 'm1' }],
    ]);
    expect(series('bytes')).to.deep.equal([['x_mount_size', { mount: 'm1' }]]);
    expect(series('sent')).to.deep.equal([]);
  });

  it('give the labels of path, variable name and row, in this order', () => {
    const [[name, labels] = ['', {}]] = series('sent.14002');
    expect(name).to.equal('x_mount_sent_total');
    expect(Object.entries(labels)).to.deep.equal([
      ['mount', 'm1'],
      ['port', '14002'],
      ['way', 'out'],
    ]);
  });

  it('match each variable that an info row reads, and are listed separately if they show the state', () => {
    const [info] = rowIndex.rowsFor(placed('A', 'db.m1.attributes', { 'db.m1': 'M' }));
    expect(
      ['name', 'host', 'x'].map((name) => info?.classRows.matchesOf(name).length),
    ).to.deep.equal([1, 1, 0]);
    const [root] = rowIndex.rowsFor(placed('P', ''));
    expect(root?.classRows.stateRows.map(({ family }) => family.name)).to.deep.equal(['x_state']);
    expect(root?.classRows.rows.length).to.equal(1);
  });
});

function object(name: string, className: string, parent?: ManagedObject): ManagedObject {
  return {
    id: 0,
    name,
    className,
    parent,
    slot: 0,
    incarnation: 0,
    children: new Set(),
    variables: new Set(),
    identity: { host: '', instance: '', application: '' },
    asOf: undefined,
  };
}

describe('objectPath', () => {
  const root = object('a.b.1.adh', 'Root');
  const far = object('a.b.1.adh.0.x.y', 'Far', root);
  const child = object('a.b.1.adh.0.x.y.z', 'Child', far);
  const stray = object('elsewhere', 'Stray', root);

  it('removes the id of the root and the dot after it (design 2)', () => {
    expect(objectPath(root, root).seedPath).to.equal('');
    expect(objectPath(root, far).seedPath).to.equal('0.x.y');
    expect(objectPath(root, child)).to.include({ seedPath: '0.x.y.z', className: 'Child' });
  });

  it('finds each ancestor by its path below the root, and the root by an empty path', () => {
    const { ancestor } = objectPath(root, child);
    expect(ancestor('0.x.y')).to.equal('Far');
    expect(ancestor('')).to.equal('Root');
    expect(ancestor('0.x')).to.equal(undefined);
    expect(ancestor('0.x.y.z')).to.equal(undefined);
  });

  it('keeps an id that does not begin with the id of the root', () =>
    expect(objectPath(root, stray).seedPath).to.equal('elsewhere'));
});
