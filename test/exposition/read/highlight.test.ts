// The highlighted variable: the one at a configured path, and its value while the tree changes.
import { expect } from 'chai';
import fc from 'fast-check';
import { Highlight } from '#app/exposition/read/highlight.js';
import { TreeWalk } from '#app/exposition/read/tree-walk.js';
import type { ManagedObject, Source, StructureChange, Variable } from '#app/model.js';
import { FakeSource } from '../../support/fake-source.js';
import type { FakeObject } from '../../support/fake-source.js';
import { freshSegments } from '../../support/segments.js';

const ROOT = 'lseg1.bgp59.com.1.ads';
const MAX_U64 = 18_446_744_073_709_551_615n;

/** A highlight that has received every item of the tree. */
function bound(source: Source, root: ManagedObject, path: string): Highlight {
  const highlight = new Highlight(source, root, path);
  for (const item of below(root))
    if ('object' in item) highlight.named.addVariable(item);
    else highlight.named.addObject(item);
  return highlight;
}

function* below(root: ManagedObject): Generator<ManagedObject | Variable, void> {
  const walk = new TreeWalk(root, true);
  for (let item = walk.next(); item !== undefined; item = walk.next()) yield item;
}

/** Applies structure changes to a highlight. */
function applyChanges(highlight: Highlight, changes: readonly StructureChange[]): void {
  for (const change of changes)
    if (change.kind === 'object-added') highlight.named.addObject(change.object);
    else if (change.kind === 'variable-added') highlight.named.addVariable(change.variable);
    else if (change.kind === 'variable-removed') highlight.named.removeVariable(change.variable);
    else for (const each of treeOf(change.object)) highlight.named.removeObject(each);
}

/** Returns a root, a highlight, and a function that applies pending changes and reads the highlight. */
function live(path: string) {
  const source = new FakeSource();
  const root = source.addObject(ROOT, 'Ads');
  const highlight = bound(source, root, path);
  const read = () => {
    applyChanges(highlight, source.readChanges().changes);
    return highlight.read();
  };
  const add = (name: string, parent = root) => source.addObject(name, 'Class', { parent });
  return { source, root, highlight, read, add };
}

describe('the highlighted variable of a target (spec 2.1 `variable`)', () => {
  /** A tree in which each variable has the value `<object id>|<own name>`. */
  const tree = (): { source: FakeSource; root: FakeObject } => {
    const source = new FakeSource();
    const root = source.addObject(ROOT, 'Ads');
    source.addObject('other.1.ads', 'Ads');
    const say = (object: FakeObject, ...names: string[]) => {
      for (const name of names)
        source.addVariable(object, name, { type: 'string', value: `${object.name}|${name}` });
      return object;
    };
    const child = (name: string, ...names: string[]) =>
      say(source.addObject(name, 'Class', { parent: root }), ...names);
    say(root, 'v', 'bytesSent.14002', '# managed objs', 'a.w', 'ab', '');
    child(`${ROOT}.a`, 'v', 'c.v', 'b.only');
    say(source.addObject(`${ROOT}.a.b`, 'Class', { parent: root }), 'v', 'b.v', '.v');
    child(`${ROOT}.dot.`, 'v', 'v.');
    child(`${ROOT}.0.send.bus`, '32PingInterval');
    child('foreign.id', 'v');
    child(`${ROOT}.twin`, 'v');
    say(source.addObject(`${ROOT}.twin`, 'Class', { parent: root }), 'w');
    return { source, root };
  };

  const names = [
    ['v', `${ROOT}|v`],
    [`${ROOT}.v`, `${ROOT}|v`],
    ['bytesSent.14002', `${ROOT}|bytesSent.14002`],
    ['# managed objs', `${ROOT}|# managed objs`],
    [`${ROOT}.`, `${ROOT}|`],
    ['a.v', `${ROOT}.a|v`],
    [`${ROOT}.a.v`, `${ROOT}.a|v`],
    ['a.c.v', `${ROOT}.a|c.v`],
    ['a.b.v', `${ROOT}.a.b|v`],
    ['a.b.b.v', `${ROOT}.a.b|b.v`],
    ['a.b..v', `${ROOT}.a.b|.v`],
    ['ab', `${ROOT}|ab`],
    ['dot..v', `${ROOT}.dot.|v`],
    ['dot..v.', `${ROOT}.dot.|v.`],
    ['0.send.bus.32PingInterval', `${ROOT}.0.send.bus|32PingInterval`],
    [`${ROOT}.0.send.bus.32PingInterval`, `${ROOT}.0.send.bus|32PingInterval`],
    ['foreign.id.v', 'foreign.id|v'],
    ['twin.w', `${ROOT}.twin|w`],
  ] as const;
  for (const [path, variable] of names)
    it(`with the path ${JSON.stringify(path)} is ${variable}`, () => {
      const { source, root } = tree();
      const read = bound(source, root, path).read();
      expect(read).to.deep.equal({ path, value: 1, text: variable });
    });

  const nothing = [
    ['a', 'it is an object and not a variable'],
    ['a.w', 'the object with the longest matching id lacks the variable'],
    ['a.b.only', 'only an object with a shorter matching id has the variable'],
    ['dot.v', 'the id of the object ends in a dot, an empty segment'],
    ['0.send.32PingInterval', 'no object has this id'],
    ['V', 'names are case-sensitive'],
    [ROOT, 'it is the id of the root without a variable'],
    ['other.1.ads.v', 'the variable belongs to another root'],
    ['twin.v', 'the newer of two objects with this id lacks the variable'],
  ] as const;
  for (const [path, why] of nothing)
    it(`with the path ${JSON.stringify(path)} is absent: ${why}`, () => {
      const { source, root } = tree();
      expect(bound(source, root, path).read()).to.equal(undefined);
    });

  const scalars = [
    ['u64', MAX_U64, MAX_U64],
    ['i64', -9_223_372_036_854_775_808n, -9_223_372_036_854_775_808n],
    ['f64', 0.1, 0.1],
    ['f64', NaN, NaN],
    ['f64', -Infinity, -Infinity],
    ['bool', true, 1n],
    ['bool', false, 0n],
  ] as const;
  for (const [type, value, shown] of scalars)
    it(`keeps the ${type} ${value} exactly`, () => {
      const { source, root, read } = live('v');
      source.addVariable(root, 'v', { type, value });
      expect(read()).to.deep.equal({ path: 'v', value: shown });
      expect(read(), 'unchanged').to.equal(read());
    });

  it('has the number of observations as its value if it is a histogram or summary', () => {
    const { source, root, read } = live('v');
    const counts = BigUint64Array.of(1n, MAX_U64 - 5n, 2n);
    const histogram = { type: 'histogram', counts, sum: 1 } as const;
    source.addVariable(root, 'v', { type: 'histogram', value: histogram, schema: [1, 2] });
    expect(read()).to.deep.equal({ path: 'v', value: MAX_U64 - 2n });
    const summary = { type: 'summary', count: 7n, sum: 1, values: Float64Array.of(1) } as const;
    source.addVariable(root, 'v', { type: 'summary', value: summary, schema: [0.5] });
    expect(read()).to.deep.equal({ path: 'v', value: 7n });
  });

  it('is returned as the same object until its value or text changes', () => {
    const { source, root, read } = live('v');
    const variable = source.addVariable(root, 'v', { type: 'string', value: 'one' });
    const one = read();
    expect(one).to.deep.equal({ path: 'v', value: 1, text: 'one' });
    source.set(variable, 'one');
    expect(read()).to.equal(one);
    source.set(variable, 'two');
    expect(read()).to.deep.equal({ path: 'v', value: 1, text: 'two' });
  });

  it('distinguishes 0 from -0, and an empty string from no string', () => {
    const { source, root, read } = live('v');
    const float = source.addVariable(root, 'v', { type: 'f64', value: 0 });
    const zero = read();
    source.set(float, -0);
    expect(read()).to.not.equal(zero);
    source.set(float, 1);
    const one = read();
    source.addVariable(root, 'v', { type: 'string', value: '' });
    expect(read()).to.deep.equal({ path: 'v', value: 1, text: '' }).and.not.equal(one);
  });

  it('has no value while it is not synced', () => {
    const { source, root, read } = live('v');
    const variable = source.addVariable(root, 'v', { type: 'u64' });
    expect(read()).to.equal(undefined);
    source.set(variable, 1n);
    source.setSynced(variable, true);
    expect(read()?.value).to.equal(1n);
    source.setSynced(variable, false);
    expect(read()).to.equal(undefined);
  });

  for (const [type, value] of [
    ['bool', true],
    ['string', 'one'],
  ] as const)
    it(`of type ${type} has no value if the source ends before its slot`, () => {
      const { source, root, read } = live('v');
      source.addVariable(root, 'v', { type, value });
      expect(Number(read()?.value)).to.equal(1);
      source.end = 0;
      expect(read()).to.equal(undefined);
    });

  it('keeps its last value while its frame cannot be copied consistently', () => {
    const { source, root, read } = live('v');
    const first = source.addVariable(root, 'v', { type: 'string', value: 'one' });
    source.restless.add(first);
    expect(read(), 'never copied').to.equal(undefined);
    source.restless.delete(first);
    const one = read();
    source.restless.add(first);
    source.set(first, 'two');
    expect(read()).to.equal(one);
    source.remove(first);
    const second = source.addVariable(root, 'v', { type: 'string', value: 'three' });
    source.restless.add(second);
    expect(second.slot, 'the slot is reused').to.equal(first.slot);
    expect(read()).to.equal(undefined);
  });

  it('follows objects as they are added and removed', () => {
    const { source, root, read, add } = live('a.b.c.v');
    source.addVariable(root, 'a.b.c.v', { type: 'u64', value: 1n });
    expect(read()?.value).to.equal(1n);
    const a = add(`${ROOT}.a`);
    expect(read(), 'the object lacks the variable').to.equal(undefined);
    source.addVariable(a, 'b.c.v', { type: 'u64', value: 2n });
    expect(read()?.value).to.equal(2n);
    const above = add(`${ROOT}.x`);
    const c = add(`${ROOT}.a.b.c`, above);
    source.addVariable(c, 'v', { type: 'u64', value: 3n });
    expect(read()?.value).to.equal(3n);
    source.remove(above);
    expect(read()?.value, 'gone with its parent').to.equal(2n);
    source.remove(a);
    expect(read()?.value).to.equal(1n);
    source.addVariable(add(`${ROOT}.a.b.c`), 'v', { type: 'u64', value: 4n });
    expect(read()?.value).to.equal(4n);
  });

  it('is the newer of two variables with the same name, and the older variable after the newer is removed', () => {
    const { source, root, read } = live('v');
    source.addVariable(root, 'v', { type: 'u64', value: 1n });
    expect(read()?.value).to.equal(1n);
    const later = source.addVariable(root, 'v', { type: 'u64', value: 2n });
    expect(read()?.value).to.equal(2n);
    source.remove(later);
    expect(read()?.value).to.equal(1n);
  });

  it('belongs to the newer of two objects with the same id, even if the newer object is found first', () => {
    const { source, root, add } = live('a.v');
    const [first, second] = [add(`${ROOT}.x`), add(`${ROOT}.y`)];
    source.addVariable(add(`${ROOT}.a`, second), 'v', { type: 'u64', value: 1n });
    source.addVariable(add(`${ROOT}.a`, first), 'v', { type: 'u64', value: 2n });
    expect(bound(source, root, 'a.v').read()?.value).to.equal(2n);
  });

  it('does not show the value of a new variable that gets its slot', () => {
    const { source, root, highlight, read } = live('v');
    const variable = source.addVariable(root, 'v', { type: 'u64', value: 1n });
    expect(read()?.value).to.equal(1n);
    source.remove(variable);
    const other = source.addVariable(root, 'w', { type: 'u64', value: 2n });
    expect(other.slot).to.equal(variable.slot);
    expect(highlight.read(), 'before the changes are taken in').to.equal(undefined);
    expect(read()).to.equal(undefined);
  });

  for (const copies of [1, 2])
    it(`has no value if its slot is reused after copy ${copies} of a read`, () => {
      const { source, root, highlight } = live('v');
      const variable = source.addVariable(root, 'v', { type: 'u64', value: 1n });
      applyChanges(highlight, source.readChanges().changes);
      let left = copies;
      source.afterCopy = () => {
        if (--left !== 0) return;
        source.remove(variable);
        source.addVariable(root, 'w', { type: 'u64', value: 2n });
      };
      expect(highlight.read()).to.equal(undefined);
      expect(left).to.be.at.most(0);
    });

  it('has no value if the publisher syncs the variable after its slot was copied', () => {
    const { source, root, highlight } = live('v');
    const variable = source.addVariable(root, 'v', { type: 'u64' });
    applyChanges(highlight, source.readChanges().changes);
    source.setSlot({ slot: variable.slot, incarnation: 9 }, 5n);
    source.afterCopy = () => {
      source.set(variable, 1n);
      source.setSynced(variable, true);
    };
    expect(highlight.read()).to.equal(undefined);
    expect(highlight.read()?.value).to.equal(1n);
  });

  describe('in a real segment', () => {
    const segments = freshSegments();

    it('has the stored value', () => {
      const publisher = segments.publish('82');
      const root = publisher.addRoot(ROOT, 'Ads');
      const watch = segments.poller('82');
      const { source } = watch.poll();
      const [found] = source?.roots ?? [];
      if (source === undefined || found === undefined) throw new Error('No root');
      const number = bound(source, found, 'users.bytesSent.14002');
      const text = bound(source, found, `${ROOT}.users.name`);
      const users = publisher.addObject(root, `${ROOT}.users`, 'Users');
      const sent = publisher.addVariable(users, 'bytesSent.14002', 'u64');
      const name = publisher.addVariable(users, 'name', 'string', { textBytes: 24 });
      const poll = () => {
        const { changes } = watch.poll();
        for (const each of [number, text]) applyChanges(each, changes);
        return [number.read()?.value, text.read()?.text];
      };
      expect(poll()).to.deep.equal([undefined, undefined]);
      sent.set(MAX_U64);
      name.set('Grüße');
      expect(poll()).to.deep.equal([MAX_U64, 'Grüße']);
      sent.unset();
      expect(poll()).to.deep.equal([undefined, 'Grüße']);
      publisher.removeObject(users);
      publisher.addVariable(root, 'w', 'u64').set(3);
      expect(number.read()).to.equal(undefined);
      expect(poll()).to.deep.equal([undefined, undefined]);
    });
  });

  it('equals the result of a naive search through the whole tree', () => {
    const segment = fc.constantFrom('a', 'a', 'b', '');
    const some = fc.array(segment, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('.'));
    const action = fc.constantFrom(
      ...['object', 'object', 'foreign', 'variable', 'variable', 'variable', 'remove', 'drop'],
    );
    const steps = fc.array(fc.tuple(action, fc.nat(50), some), {
      minLength: 10,
      maxLength: 60,
      size: 'max',
    });
    const path = fc.tuple(
      fc.constantFrom('', 'r.1.'),
      fc.array(segment, { minLength: 1, maxLength: 4 }),
    );
    let found = 0;
    fc.assert(
      fc.property(steps, fc.nat(40), path, (all, start, [prefix, parts]) => {
        const source = new FakeSource();
        const root = source.addObject('r.1', 'Root');
        const wanted = prefix + parts.join('.');
        let last = 0n;
        const run = ([action, pick, name]: (typeof all)[number]) => {
          const objects = treeOf(root) as FakeObject[];
          const object = objects[pick % objects.length] ?? root;
          const variable = [...object.variables][pick % Math.max(1, object.variables.size)];
          if (action === 'variable')
            source.addVariable(object, name, { type: 'u64', value: ++last });
          else if (action === 'object')
            source.addObject(`${object.name}.${name}`, 'Class', { parent: object });
          else if (action === 'foreign') source.addObject(name, 'Class', { parent: object });
          else if (action === 'remove' && object !== root) source.remove(object);
          else if (action === 'drop' && variable !== undefined) source.remove(variable);
        };
        all.slice(0, start).forEach(run);
        const highlight = bound(source, root, wanted);
        for (const step of [undefined, ...all.slice(start)]) {
          if (step !== undefined) run(step);
          applyChanges(highlight, source.readChanges().changes);
          const variable = search(root, wanted);
          const read = highlight.read();
          if (variable !== undefined) found++;
          expect(read === undefined).to.equal(variable === undefined);
          if (variable !== undefined) expect(read?.value).to.equal(valueAt(source, variable));
        }
      }),
      { numRuns: 150 },
    );
    expect(found, 'variables found').to.be.above(50);
  });
});

const treeOf = (object: ManagedObject): ManagedObject[] => [
  object,
  ...[...object.children].flatMap(treeOf),
];

/** A naive implementation of the path rule over all objects and variables. */
function search(root: ManagedObject, path: string): Variable | undefined {
  const isFull = path.startsWith(`${root.name}.`);
  const wanted = (isFull ? path : `${root.name}.${path}`).split('.');
  const owners = treeOf(root)
    .map((object) => {
      const isUnder = object === root || object.name.startsWith(`${root.name}.`);
      const id = (isUnder ? object.name : `${root.name}.${object.name}`).split('.');
      return { object, id };
    })
    .filter(({ id }) => id.length < wanted.length && id.every((each, i) => each === wanted[i]))
    .sort((one, two) => two.id.length - one.id.length || two.object.id - one.object.id);
  const [owner] = owners;
  const name = wanted.slice(owner?.id.length).join('.');
  return [...(owner?.object.variables ?? [])]
    .filter((variable) => variable.name === name)
    .sort((one, two) => two.id - one.id)[0];
}

function valueAt(source: FakeSource, { slot }: Variable): bigint {
  const bytes = Buffer.alloc(8);
  source.readSlots(slot, 1, bytes);
  return bytes.readBigUInt64LE();
}
