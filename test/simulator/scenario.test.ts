import { expect } from 'chai';
import { parseScenario } from '#app/simulator/scenario.js';
import { VALUE_TYPES } from '#app/published.js';

const root = (more: object) => ({ objects: [{ id: 'h.1.x', class: 'C', ...more }] });
const variable = (more: object) => root({ variables: { v: more } });
const step = (more: object) => ({ objects: [], steps: [{ after_ms: 0, ...more }] });
const AT = 'objects[0].variables.v';

describe('A scenario', () => {
  it('gets defaults for missing keys', () => {
    const text = JSON.stringify(variable({ type: 'i64', value: '-9223372036854775808' }));
    expect(parseScenario(text, 's.json')).to.deep.equal({
      contextId: 'shmApp',
      poolName: 'pool',
      serverKey: null,
      objects: [
        {
          id: 'h.1.x',
          parent: null,
          class: 'C',
          state: 'normal',
          synced: true,
          variables: [
            { name: 'v', type: 'i64', kind: 'unknown', unit: '', help: '', value: -(2n ** 63n) },
          ],
        },
      ],
      steps: [],
      repeat: false,
    });
  });

  it('has its quantiles in numeric order', () => {
    const value = { quantiles: { 1: 3, '0.5': 1, '0.9': 2 }, count: 4, sum: 5 };
    const text = JSON.stringify(variable({ type: 'summary', value }));
    expect(parseScenario(text, 's').objects[0]?.variables[0]?.value).to.deep.equal({
      quantiles: [
        [0.5, 1],
        [0.9, 2],
        [1, 3],
      ],
      count: 4n,
      sum: 5,
    });
  });

  const histogram = (bounds: readonly unknown[], counts: readonly unknown[]) =>
    variable({ type: 'histogram', value: { bounds, counts, sum: 0 } });
  const summary = (quantiles: object) =>
    variable({ type: 'summary', value: { quantiles, count: 0, sum: 0 } });
  const u64 = 'an integer from 0 to 18446744073709551615; beyond 2^53, a decimal string';
  const refused: readonly (readonly [object, string])[] = [
    [[], 'the file: found an empty array, allowed: an object'],
    [{}, 'objects: found nothing, needed: an array of items, each an object'],
    [{ objects: 1 }, 'objects: found 1, allowed: an array of items, each an object'],
    [{ objects: [], stpes: [] }, 'stpes: unknown key (did you mean "steps"?)'],
    [{ objects: [], repeat: 1 }, 'repeat: found 1 (write true), allowed: true or false'],
    [
      { objects: [], server_key: 1 },
      'server_key: found 1 (write "1"), allowed: a string of 1 to 64',
    ],
    [{ objects: [], context_id: '' }, 'context_id: found "", allowed: a string of 1 to 64'],
    [{ objects: [], pool_name: 'a/b' }, 'pool_name: found "a/b", allowed: a string of 1 to 64'],
    [root({ id: 1 }), 'objects[0].id: found 1, allowed: a string'],
    [
      root({ state: 'odd' }),
      'objects[0].state: found "odd", allowed: "init" or "normal" or "manual_recovery" or "auto_recovery" or "dead" or "invalid"',
    ],
    [
      variable({ type: 'int' }),
      `${AT}.type: found "int", allowed: "${Object.keys(VALUE_TYPES).join('" or "')}"`,
    ],
    [
      variable({ type: 'u64', kind: 'total' }),
      `${AT}.kind: found "total", allowed: "unknown" or "counter" or "gauge"`,
    ],
    [variable({ type: 'u64', value: -1 }), `${AT}.value: found -1, allowed: ${u64}`],
    [
      variable({ type: 'u64', value: 2 ** 53 }),
      `${AT}.value: found 9007199254740992, allowed: ${u64}`,
    ],
    [
      variable({ type: 'bool', value: 1 }),
      `${AT}.value: found 1 (write true), allowed: true or false`,
    ],
    [
      variable({ type: 'f64', value: 'x' }),
      `${AT}.value: found "x", allowed: a number, "NaN", "Infinity" or "-Infinity"`,
    ],
    [
      histogram([1], [1]),
      `${AT}.value.counts: 1 counts for 1 bounds, allowed: one more than bounds`,
    ],
    [
      histogram([2, 1], [0, 0, 0]),
      `${AT}.value.bounds: do not ascend, allowed: numbers, each greater than the one before`,
    ],
    [
      summary({ 2: 0 }),
      `${AT}.value.quantiles: found a key that is not a quantile, allowed: numbers from 0 to 1`,
    ],
    [
      summary({ '0.5': 0, '.5': 0 }),
      `${AT}.value.quantiles: a quantile is given twice, allowed: each once`,
    ],
    [step({ after_ms: -1 }), 'steps[0].after_ms: found -1, allowed: a number from 0 to 2147483647'],
    [step({ exit: 'now' }), 'steps[0].exit: found "now", allowed: "clean" or "kill"'],
    [
      step({ remove: 'a' }),
      'steps[0].remove: found "a" (write ["a"]), allowed: an array of items, each a string',
    ],
    [step({ set: { a: 1 } }), 'steps[0].set.a: found 1, allowed: a table'],
  ];
  for (const [json, message] of refused)
    it(`is rejected with the message: ${message.split('\n')[0] ?? ''}`, () =>
      expect(() => parseScenario(JSON.stringify(json), 's'))
        .to.throw(`s: ${message}`)
        .with.property('code', 'SCENARIO_INVALID'));

  it('is rejected with one line for each mistake', () => {
    const json = { ...variable({ type: 'int', kind: 'x' }), repeat: 'no' };
    expect(() => parseScenario(JSON.stringify(json), 's')).to.throw(/^s: .+\ns: .+\ns: .+$/);
  });

  it('is rejected if it is not JSON', () =>
    expect(() => parseScenario('{', 's.json')).to.throw(/^s\.json is not JSON: /));
});
