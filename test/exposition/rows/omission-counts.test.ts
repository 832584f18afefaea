// The gauges of omitted series, objects and variables, compared with a recount of the tree after random changes.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Variable } from '#app/model.js';
import { FakeSource } from '../../support/fake-source.js';
import type { FakeObject, VariableOptions } from '../../support/fake-source.js';
import { testView } from '../test-view.js';

const COUNTS = BigUint64Array.of(1n, 2n);
type Kind = 'number' | 'text' | 'histogram';
const KINDS: Readonly<Record<Kind, (size: number) => VariableOptions>> = {
  number: () => ({ type: 'u64', value: 1n }),
  text: (size: number) => ({ type: 'string', value: 'x'.repeat(size) }),
  histogram: () => ({
    type: 'histogram',
    schema: [1],
    value: { type: 'histogram', counts: COUNTS, sum: 1 },
  }),
};

const stepWith = (...kinds: Kind[]) =>
  fc.record({
    action: fc.constantFrom(
      'object',
      'add',
      'add',
      'add',
      'store',
      'store',
      'remove',
      'remove object',
    ),
    kind: fc.constantFrom(...kinds),
    pick: fc.nat(100),
    size: fc.constantFrom(1, 10, 100, 400, 900),
  });

describe('the gauges of omitted items', () => {
  const limits = [
    ['series', { series: 8 }, stepWith('number', 'text', 'histogram')],
    ['text', { textBytes: 1500 }, stepWith('number', 'text')],
    ['variables', { variables: 4 }, stepWith('number', 'text')],
    ['objects', { objects: 2 }, stepWith('number', 'text')],
    ['series and text', { series: 15, textBytes: 2500 }, stepWith('number', 'text')],
  ] as const;
  for (const [limited, limit, step] of limits)
    it(`equal a recount if the limits on ${limited} are low`, () => {
      let omissions = 0;
      fc.assert(
        fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
          const source = new FakeSource();
          const root = source.addObject('h.1.shop', 'Shop');
          const objects: FakeObject[] = [root];
          const { view, lines } = testView(source, root, { limits: limit });
          const pickOf = <T>(from: readonly T[], pick: number): T | undefined =>
            from[pick % Math.max(1, from.length)];
          const variableAt = (pick: number): Variable | undefined =>
            pickOf(
              objects.flatMap(({ variables }) => [...variables]),
              pick,
            );
          steps.forEach(({ action, kind, pick, size }, number) => {
            if (action === 'object')
              objects.push(source.addObject(`h.1.shop.o${number}`, 'Till', { parent: root }));
            else if (action === 'add')
              source.addVariable(
                pickOf(objects, pick) ?? root,
                `${kind}${number}`,
                KINDS[kind](size),
              );
            else if (action === 'remove object') {
              const object = pickOf(objects, pick);
              if (object !== undefined && object !== root)
                source.remove(...(objects.splice(objects.indexOf(object), 1) as [FakeObject]));
            } else {
              const variable = variableAt(pick);
              if (variable === undefined) return;
              if (action === 'remove') source.remove(variable);
              else if (variable.type === 'string') source.set(variable, 'y'.repeat(size));
            }
            if (pick % 4 > 0 && number < steps.length - 1) return;
            const shown = lines().length;
            const all = testView(source, root).lines().length;
            const { missing, counts } = view;
            const tracked = counts.objects.total;
            expect(missing.omittedObjects).to.equal(objects.length - tracked);
            const variables = objects.reduce((sum, each) => sum + each.variables.size, 0);
            if (missing.omittedObjects === 0)
              expect(missing.omittedVariables).to.equal(variables - counts.variables.total);
            expect(missing.clashingSeries).to.equal(0);
            // The series of omitted objects and variables do not count as omitted series.
            if (missing.omittedObjects + missing.omittedVariables > 0)
              expect(missing.omittedSeries).to.be.at.most(all - shown);
            else expect(missing.omittedSeries).to.equal(all - shown);
            omissions += missing.omittedSeries + missing.omittedObjects + missing.omittedVariables;
          });
        }),
        { numRuns: 40 },
      );
      expect(omissions, 'omitted items').to.be.above(0);
    });
});
