// Tests the conversion of the JSON of a component to a tree.
import { expect } from 'chai';
import { ODDITIES } from '#app/bridge/tree/component-tree.js';
import type { Json, JsonObject } from '#app/bridge/poll/json-document.js';
import { PollFailure } from '#app/bridge/poll/fetch-body.js';
import { readTree } from '#app/bridge/tree/read-tree.js';

const LIMITS = { maxObjects: 100, maxVariables: 100, maxDepth: 10 };
const read = (document: Json, limits = LIMITS) => readTree(document, limits);

const failureOf = (document: Json, limits = LIMITS): string => {
  try {
    read(document, limits);
  } catch (error) {
    if (error instanceof PollFailure) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return 'none';
};

const variable = (name: Json, value: Json = 1, type: Json = 'Numeric'): Json => ({
  Name: name,
  Type: type,
  Value: value,
});
const object = (id: Json, more: JsonObject = {}): Json => ({
  Instance: id,
  Class: 'C',
  ...more,
});
/** Returns the oddity counts that are not 0. */
const odd = ({ oddities }: ReturnType<typeof read>) =>
  Object.fromEntries(Object.entries(oddities).filter(([, count]) => count > 0));
const names = ({ objects }: ReturnType<typeof read>, id: string) =>
  [...(objects.get(id)?.variables ?? [])].map(
    ([name, { value }]) => `${name}=${String(value.value)}`,
  );

describe('The reader of trees', () => {
  it('lists objects in the order of the document, each parent before its children', () => {
    const tree = read([
      object('a', { Children: [object('a.x', { Children: [object('deep')] }), object('a.y')] }),
      object('b'),
    ]);
    const pairs = [...tree.objects.values()].map(
      ({ id, parent }) => `${parent?.id ?? '-'} > ${id}`,
    );
    expect(pairs).to.deep.equal(['- > a', 'a > a.x', 'a.x > deep', 'a > a.y', '- > b']);
    expect(odd(tree)).to.deep.equal({});
  });

  it('reads null, missing and invalid lists as empty lists', () => {
    const tree = read([object('a', { Variables: null, Children: 'none' }), object('b')]);
    expect([...tree.objects.keys()]).to.deep.equal(['a', 'b']);
  });

  it('keeps the first of two objects with the same Instance, and omits the second and its descendants', () => {
    const tree = read([
      object('a', { Variables: [variable('v', 1)] }),
      object('b', {
        Children: [object('a', { Variables: [variable('v', 2)], Children: [object('c')] })],
      }),
    ]);
    expect([...tree.objects.keys()]).to.deep.equal(['a', 'b']);
    expect(names(tree, 'a')).to.deep.equal(['v=1']);
    expect(odd(tree)).to.deep.equal({ duplicate_objects: 1 });
  });

  it('keeps the last of two variables with the same name', () => {
    const tree = read([
      object('a', { Variables: [variable('v', 1), variable('w'), variable('v', 2)] }),
    ]);
    expect(names(tree, 'a')).to.deep.equal(['w=1', 'v=2']);
    expect(tree.variableCount).to.equal(2);
    expect(odd(tree)).to.deep.equal({ duplicate_variables: 1 });
  });

  it('omits a variable if its last occurrence has no value', () => {
    const tree = read([object('a', { Variables: [variable('v', 1), variable('v', null)] })]);
    expect(names(tree, 'a')).to.deep.equal([]);
    expect(odd(tree)).to.deep.equal({ duplicate_variables: 1, unusable_values: 1 });
  });

  it('omits and counts items whose names a segment does not accept', () => {
    const tooLong = 'ä'.repeat(513);
    const longest = 'ä'.repeat(512);
    const tree = read([
      5,
      null,
      object(''),
      object(7),
      object(tooLong, { Children: [object('below')] }),
      object(longest, {
        Variables: [variable(''), variable(7), variable(tooLong), variable(longest), 3, null],
      }),
    ]);
    expect([...tree.objects.keys()]).to.deep.equal([longest]);
    expect(names(tree, longest)).to.deep.equal([`${longest}=1`]);
    expect(odd(tree)).to.deep.equal({ unusable_objects: 5, unusable_variables: 5 });
  });

  it('counts values that do not match their type, and counts and names unknown types', () => {
    const tree = read([
      object('a', {
        Variables: [
          variable('text', 'abc'),
          variable('list', [1], 'Counter'),
          variable('exotic', 'abc', 'Exotic'),
          variable('again', 1, 'Exotic'),
          variable('none', 1, null),
        ],
      }),
    ]);
    expect(names(tree, 'a')).to.deep.equal(['exotic=abc', 'again=1', 'none=1']);
    expect(odd(tree)).to.deep.equal({ unusable_values: 2, unknown_types: 3 });
    expect(tree.unknownTypes).to.deep.equal(['Exotic', '']);
  });

  const STATES = {
    Normal: 'normal',
    'Auto Recovery': 'auto_recovery',
    MANUAL_RECOVERY: 'manual_recovery',
    Init: 'init',
    dead: 'dead',
    Invalid: 'invalid',
    Up: 'normal',
  };
  for (const [stated, state] of Object.entries(STATES))
    it(`maps the state ${stated} to ${state}`, () =>
      expect(read([object('a', { State: stated })]).objects.get('a')?.state).to.equal(state));

  it('maps a missing state to normal', () => {
    for (const more of [{}, { State: null }, { State: 3 }])
      expect(read([object('a', more)]).objects.get('a')?.state).to.equal('normal');
  });

  it('replaces lone surrogates in names', () =>
    expect([...read([object('a\ud800')]).objects.keys()]).to.deep.equal(['a\ufffd']));

  const SHAPES: readonly (readonly [Json, RegExp])[] = [
    [null, /^bad_shape: .* null, allowed: an array/],
    [object('a'), /^bad_shape: .* an object/],
    ['text', /^bad_shape: .* a string/],
    [12, /^bad_shape: .* a number/],
    [[1, 2], /^bad_shape: .* array of 2 items, allowed: at least one object/],
    [[], /^no_data: .* empty array/],
  ];
  for (const [document, message] of SHAPES)
    it(`refuses ${JSON.stringify(document)}`, () => expect(failureOf(document)).to.match(message));

  it('accepts the maximum number of objects, variables and levels, and refuses more', () => {
    const chain = (depth: number): Json =>
      object(`d${depth}`, depth > 1 ? { Children: [chain(depth - 1)] } : {});
    const some = (count: number) => Array.from({ length: count }, (_, n) => object(`o${n}`));
    const many = (count: number) => [
      object('a', { Variables: Array.from({ length: count }, (_, n) => variable(`v${n}`)) }),
    ];
    expect(failureOf([chain(10)])).to.equal('none');
    expect(failureOf([chain(11)])).to.match(/^too_deep: .*10/);
    expect(failureOf(some(100))).to.equal('none');
    expect(failureOf(some(101))).to.match(/^too_many: .* max_objects \(100/);
    expect(failureOf(many(100))).to.equal('none');
    expect(failureOf(many(101))).to.match(/^too_many: .* max_variables \(100/);
  });

  it('has a count for every kind of irregularity, even a count of 0', () =>
    expect(Object.keys(read([object('a')]).oddities)).to.deep.equal(Object.keys(ODDITIES)));
});
