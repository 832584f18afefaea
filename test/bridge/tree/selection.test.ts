// Tests the selection of the objects and variables to publish.
import { expect } from 'chai';
import fc from 'fast-check';
import type { ComponentObject, ComponentVariable } from '#app/bridge/tree/component-tree.js';
import { compileSelection, scenarioText, unmatchedPatterns } from '#app/bridge/tree/selection.js';
import type { SelectionSettings } from '#app/bridge/tree/selection.js';
import { compileSeedPrefix } from '#app/catalogue/match/patterns.js';
import { OBJECT_STATES } from '#app/model.js';
import { parseScenario } from '#app/simulator/scenario.js';
import { sample, treeOf } from './sample-tree.js';
import type { Sample } from './sample-tree.js';

const ALL: SelectionSettings = {
  classes: [],
  excludeClasses: [],
  seedPaths: [],
  excludeVariables: [],
};

const TREE = treeOf(
  sample(
    'h.1.ads',
    'Process',
    ['pid', 'version'],
    sample(
      'h.1.ads.users',
      'UserDb',
      ['total'],
      sample('h.1.ads.users.user1', 'User', ['loginName', 'channels']),
      sample('h.1.ads.users.user2', 'User', ['loginName', 'position', 'channels']),
    ),
    sample(
      'h.1.ads.sink',
      'Sink',
      [],
      sample('h.1.ads.sink.server', 'Server', ['bytes', 'hostname']),
    ),
    sample('elsewhere.item', 'Item', ['bytes']),
  ),
  sample('h.1.ads.dacs', 'Dacs', ['loginFailures'], sample('h.1.ads.dacs.x', 'User', ['channels'])),
);

/** Returns the id and the variable names of each selected object. */
const shown = (settings: Partial<SelectionSettings>) =>
  [...compileSelection({ ...ALL, ...settings })(TREE).values()].map(({ id, variables }) =>
    [id, ...variables.keys()].join(' '),
  );

const DACS = 'h.1.ads.dacs';

describe('A selection', () => {
  it('selects the whole tree by default', () =>
    expect(compileSelection(ALL)(TREE)).to.equal(TREE.objects));

  const rows: readonly (readonly [
    rule: string,
    settings: Partial<SelectionSettings>,
    kept: readonly string[],
  ])[] = [
    [
      'keeps objects of the classes, and their ancestors without variables',
      { classes: ['User'] },
      [
        'h.1.ads',
        'h.1.ads.users',
        'h.1.ads.users.user1 loginName channels',
        'h.1.ads.users.user2 loginName position channels',
        DACS,
        'h.1.ads.dacs.x channels',
      ],
    ],
    [
      'lets * in a class match any text',
      { classes: ['S*r', 'Pro*'] },
      ['h.1.ads pid version', 'h.1.ads.sink', 'h.1.ads.sink.server bytes hostname', DACS],
    ],
    [
      'compares classes case-sensitively and as a whole',
      { classes: ['user', 'Use', 'ser'] },
      ['h.1.ads', DACS],
    ],
    [
      'omits objects of excluded classes, but not their descendants',
      { excludeClasses: ['UserDb', 'S*', 'Item', 'Dacs'] },
      [
        'h.1.ads pid version',
        'h.1.ads.users',
        'h.1.ads.users.user1 loginName channels',
        'h.1.ads.users.user2 loginName position channels',
        DACS,
        'h.1.ads.dacs.x channels',
      ],
    ],
    [
      'omits objects that match both classes and exclude_classes',
      { classes: ['User*'], excludeClasses: ['User'] },
      ['h.1.ads', 'h.1.ads.users total', DACS],
    ],
    [
      'keeps objects at and below a seed path',
      { seedPaths: ['users'] },
      [
        'h.1.ads',
        'h.1.ads.users total',
        'h.1.ads.users.user1 loginName channels',
        'h.1.ads.users.user2 loginName position channels',
        DACS,
      ],
    ],
    [
      'compares whole path segments, in which * and {label} are wildcards',
      { seedPaths: ['user', 'users.*2', '{any}.server'] },
      [
        'h.1.ads',
        'h.1.ads.users',
        'h.1.ads.users.user2 loginName position channels',
        'h.1.ads.sink',
        'h.1.ads.sink.server bytes hostname',
        DACS,
      ],
    ],
    [
      'keeps only roots for the seed path @root',
      { seedPaths: ['@root'] },
      ['h.1.ads pid version', `${DACS} loginFailures`],
    ],
    [
      'uses the whole id of an object as its path if the id does not begin with the id of its root',
      { seedPaths: ['elsewhere'] },
      ['h.1.ads', 'elsewhere.item bytes', DACS],
    ],
    [
      'keeps objects that match both classes and seed paths',
      { classes: ['User'], seedPaths: ['x'] },
      ['h.1.ads', DACS, 'h.1.ads.dacs.x channels'],
    ],
    [
      'omits the excluded variables of all objects',
      { seedPaths: ['users'], excludeVariables: ['login*', 'position'] },
      [
        'h.1.ads',
        'h.1.ads.users total',
        'h.1.ads.users.user1 channels',
        'h.1.ads.users.user2 channels',
        DACS,
      ],
    ],
    ['always keeps roots', { classes: ['None'] }, ['h.1.ads', DACS]],
  ];
  for (const [rule, settings, kept] of rows)
    it(rule, () => expect(shown(settings)).to.deep.equal(kept));

  it('does not modify the tree', () => {
    const before = [...TREE.objects.values()].map(({ variables }) => variables.size);
    shown({ classes: ['User'], excludeVariables: ['*'] });
    expect([...TREE.objects.values()].map(({ variables }) => variables.size)).to.deep.equal(before);
  });

  describe('for any tree and settings', () => {
    const name = fc.constantFrom('a', 'b', 'ab', 'c');
    const pattern = fc.constantFrom('a', 'b', 'a*', '*b', '*', 'c', 'none');
    const patterns = fc.array(pattern, { maxLength: 3 });
    const settings: fc.Arbitrary<SelectionSettings> = fc.record({
      classes: patterns,
      excludeClasses: patterns,
      seedPaths: fc.array(fc.constantFrom('@root', 'a', 'a.b', '*', 'a*.{x}', 'c.*.a'), {
        maxLength: 2,
      }),
      excludeVariables: patterns,
    });
    interface Node {
      readonly name: string;
      readonly className: string;
      readonly variables: readonly string[];
      readonly children: readonly Node[];
    }
    const node = fc.letrec<{ node: Node }>((tie) => ({
      node: fc.record({
        name,
        className: name,
        variables: fc.uniqueArray(name),
        children: fc.oneof(
          { maxDepth: 4 },
          fc.constant([]),
          fc.array(tie('node'), { maxLength: 3 }),
        ),
      }),
    })).node;
    /** Builds ids along the tree; a number distinguishes siblings. */
    const withIds = (id: string, { className, variables, children }: Node): Sample =>
      sample(
        id,
        className,
        variables,
        ...children.map((child, index) =>
          withIds(`${id}.${child.name}${index === 0 ? '' : index}`, child),
        ),
      );
    const fits = (texts: readonly string[], text: string) =>
      texts.some((each) => new RegExp(`^${each.replaceAll('*', '.*')}$`).test(text));

    it('keeps the selected objects with their variables, and roots and ancestors without variables', () =>
      fc.assert(
        fc.property(fc.array(node, { minLength: 1, maxLength: 2 }), settings, (nodes, wanted) => {
          const roots = nodes.map((each, index) => withIds(`h.${index}.r`, each));
          const found = compileSelection(wanted)(treeOf(...roots));
          const expected: string[] = [];
          /** Whether the object or any object below it is selected. */
          const walk = (
            { Instance, Class, Variables, Children }: Sample,
            root: string,
          ): boolean => {
            const path = Instance.slice(root.length + 1);
            const segments = path === '' ? [] : path.split('.');
            const isChosen =
              (wanted.classes.length === 0 || fits(wanted.classes, Class)) &&
              !fits(wanted.excludeClasses, Class) &&
              (wanted.seedPaths.length === 0 ||
                wanted.seedPaths.some((prefix) => compileSeedPrefix(prefix)(segments)));
            const names = Variables.map(({ Name }) => Name);
            const left = isChosen ? names.filter((n) => !fits(wanted.excludeVariables, n)) : [];
            const at = expected.push([Instance, ...left].join(' ')) - 1;
            const isAbove = Children.map((child) => walk(child, root)).includes(true);
            const isKept = isChosen || isAbove || Instance === root;
            if (!isKept) expected.splice(at, 1);
            return isKept;
          };
          for (const root of roots) walk(root, root.Instance);
          expect(
            [...found.values()].map(({ id, variables }) => [id, ...variables.keys()].join(' ')),
          ).to.deep.equal(expected);
          const seen = new Set<string>();
          for (const { id, parent } of found.values()) {
            if (parent !== undefined) expect(seen, 'parents come first').to.include(parent.id);
            seen.add(id);
          }
        }),
      ));
  });
});

describe('The list of unmatched patterns', () => {
  it('names each pattern without a match, and its configuration key', () =>
    expect(
      unmatchedPatterns(
        {
          classes: ['User', 'Usr', 'S*'],
          excludeClasses: ['Item', 'X*'],
          seedPaths: ['@root', 'users.user1', 'user', 'elsewhere'],
          excludeVariables: ['login*', 'loginname'],
        },
        TREE,
      ),
    ).to.deep.equal([
      'classes: "Usr" matches nothing in this tree',
      'exclude_classes: "X*" matches nothing in this tree',
      'seed_paths: "user" matches nothing in this tree',
      'exclude_variables: "loginname" matches nothing in this tree',
    ]));

  it('is empty if no patterns are configured', () =>
    expect(unmatchedPatterns(ALL, TREE)).to.deep.equal([]));
});

// Tests scenarioText(), which converts a tree to the scenario that --once prints.
const PLACE = { contextId: 'c', poolName: 'p', serverKey: '82' };

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const odd = fc.constantFrom(
  'a b',
  '# objs',
  '__proto__',
  'constructor',
  '1',
  '10',
  '2',
  'x.',
  '"\\\n\0',
  'é😀',
);
const value = fc.oneof(
  fc.record({ type: fc.constant('u64' as const), value: fc.bigInt(0n, 2n ** 64n - 1n) }),
  fc.record({ type: fc.constant('i64' as const), value: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) }),
  fc.record({ type: fc.constant('u64' as const), value: fc.maxSafeNat() }),
  fc.record({ type: fc.constant('i64' as const), value: fc.maxSafeInteger() }),
  fc.record({
    type: fc.constant('f64' as const),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  }),
  fc.record({ type: fc.constant('bool' as const), value: fc.boolean() }),
  fc.record({ type: fc.constant('string' as const), value: fc.string({ unit: 'grapheme' }) }),
);
const variables: fc.Arbitrary<readonly ComponentVariable[]> = fc.uniqueArray(
  fc.record({
    name: fc.oneof(name, odd),
    kind: fc.constantFrom('unknown' as const, 'counter' as const, 'gauge' as const),
    value,
  }),
  { selector: (each) => each.name, maxLength: 5 },
);
/** Each object is a root or has an earlier object as its parent. */
const objects = fc
  .uniqueArray(
    fc.record({
      id: fc.oneof(name, odd),
      className: fc.oneof(name, fc.constant('')),
      state: fc.constantFrom(...OBJECT_STATES),
      parent: fc.option(fc.nat(9), { nil: undefined }),
      variables,
    }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 10 },
  )
  .map((rows) => {
    const made: ComponentObject[] = [];
    for (const row of rows)
      made.push({
        ...row,
        parent: row.parent === undefined ? undefined : made[row.parent],
        variables: new Map(row.variables.map((each) => [each.name, each])),
      });
    return new Map(made.map((object) => [object.id, object]));
  });

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
/** Converts integers to bigint, so that both forms compare as equal. */
const exact = (type: string, raw: unknown) =>
  (type === 'u64' || type === 'i64') && typeof raw === 'number' ? BigInt(raw) : raw;

describe('The text of a scenario', () => {
  it('has one line per object and one per variable', () => {
    const root: ComponentObject = {
      id: 'h.1.ads',
      className: 'Process',
      state: 'normal',
      parent: undefined,
      variables: new Map([
        ['pid', { name: 'pid', kind: 'unknown', value: { type: 'i64', value: 7 } }],
        ['sent', { name: 'sent', kind: 'counter', value: { type: 'u64', value: 2n ** 63n } }],
      ]),
    };
    const child: ComponentObject = {
      ...root,
      id: 'h.1.ads.x',
      parent: root,
      state: 'dead',
      variables: new Map(),
    };
    const text = scenarioText(new Map([root, child].map((each) => [each.id, each])), PLACE);
    expect(text.split('\n')).to.deep.equal([
      '{"context_id":"c","pool_name":"p","server_key":"82","objects":[',
      '{"id":"h.1.ads","class":"Process","variables":{',
      '  "pid":{"type":"i64","value":7},',
      '  "sent":{"type":"u64","kind":"counter","value":"9223372036854775808"}}},',
      '{"id":"h.1.ads.x","parent":"h.1.ads","class":"Process","state":"dead","variables":{}}',
      ']}',
      '',
    ]);
  });

  it('is read by the simulator as the same objects in the same order', () =>
    fc.assert(
      fc.property(objects, (found) => {
        const scenario = parseScenario(scenarioText(found, PLACE), 't');
        const read = scenario.objects.map(({ variables: list, ...object }) => ({
          ...object,
          variables: list
            .map(({ name: n, type, kind, value: v }) => ({
              name: n,
              type,
              kind,
              value: exact(type, v),
            }))
            .sort(byName),
        }));
        const wanted = [...found.values()].map(
          ({ id, className, state, parent, variables: map }) => ({
            id,
            class: className,
            state,
            parent: parent?.id ?? null,
            synced: true,
            variables: [...map.values()]
              .map(({ name: n, kind, value: { type, value: v } }) => ({
                name: n,
                type,
                kind,
                value: exact(type, v),
              }))
              .sort(byName),
          }),
        );
        expect(read).to.deep.equal(wanted);
      }),
    ));
});
