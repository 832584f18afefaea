// What --once prints is a scenario that means what was found.
import { expect } from 'chai';
import fc from 'fast-check';
import type { ComponentObject, ComponentVariable } from '#app/bridge/tree/component-tree.js';
import { scenarioText } from '#app/bridge/tree/selection.js';
import { OBJECT_STATES } from '#app/model.js';
import { parseScenario } from '#app/simulator/scenario.js';

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
/** Each object hangs below an earlier one, or is a root. */
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
/** Integers alike, however they were written. */
const exact = (type: string, raw: unknown) =>
  (type === 'u64' || type === 'i64') && typeof raw === 'number' ? BigInt(raw) : raw;

describe('scenarioText', () => {
  it('says where it is to be published', () => {
    const { contextId, poolName, serverKey } = parseScenario(scenarioText(new Map(), PLACE), 't');
    expect({ contextId, poolName, serverKey }).to.deep.equal(PLACE);
  });

  it('is a line an object and a line a variable', () => {
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

  it('is read by the simulator as the same objects, in the same order', () =>
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
            className,
            state,
            parent: parent?.id,
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
