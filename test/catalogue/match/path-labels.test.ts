// Patterns that name path segments: which labels an object at a path gets.
import { expect } from 'chai';
import fc from 'fast-check';
import { compilePathLabels } from '#app/catalogue/match/filters.js';
import { faultMessage } from '../../support/fault-message.js';

describe('path_labels', () => {
  const FLOORS = ['floor.{floor}.{till}'];
  const table: readonly (readonly [readonly string[], string, Readonly<Record<string, string>>])[] =
    [
      [[], 'floor.2.7', {}],
      [FLOORS, 'floor.2.7', { floor: '2', till: '7' }],
      [FLOORS, 'floor.2.7.drawer.1', { floor: '2', till: '7' }],
      [FLOORS, 'floor.2', { floor: '2' }],
      [FLOORS, 'floor', {}],
      [FLOORS, '', {}],
      [FLOORS, 'cellar.2.7', {}],
      [['{area}'], 'hall.7', { area: 'hall' }],
      [['floor.{floor~[0-9]+}', '{area}.{room}'], 'floor.2.7', { floor: '2' }],
      [['floor.{floor~[0-9]+}', '{area}.{room}'], 'floor.top.7', { area: 'floor', room: 'top' }],
      [['a.{x}', 'a.b.{y}'], 'a.b.c', { x: 'b' }],
      [['{a}.{b}'], 'hall.', { a: 'hall', b: '' }],
    ];
  for (const [patterns, path, labels] of table)
    it(`${JSON.stringify(patterns)} gives ${path || 'the root'} ${JSON.stringify(labels)}`, () =>
      expect(compilePathLabels(patterns)(path)).to.deep.equal(labels));

  it('one name for each path segment gives each object its whole path in labels', () => {
    const segment = fc.stringMatching(/^[a-z0-9 "]{1,4}$/);
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), fc.nat(7), (path, names) => {
        const pattern = Array.from({ length: names + 1 }, (_, index) => `{l${index}}`).join('.');
        const labels = compilePathLabels([pattern])(path.join('.'));
        expect(Object.values(labels)).to.deep.equal(path.slice(0, names + 1));
      }),
    );
  });

  const refused: readonly (readonly [string, string])[] = [
    [
      'floor',
      '"floor" names no label, allowed: names split by dots, at least one of them a {label}',
    ],
    [
      '@root',
      '"@root" names no label, allowed: names split by dots, at least one of them a {label}',
    ],
    ['{object}', '"object" is a label that series have anyway, as are object and value'],
    ['{value}', '"value" is a label that series have anyway, as are object and value'],
    ['{job}', '"job" is a reserved label, as are instance, job, le, quantile'],
    ['{a-b}', '"a-b" is not a label name, allowed: letters, digits and _'],
    ['{a}.{a}', '"{a}.{a}" gives the same label twice'],
    ['a{b}', '"a{b}" has a stray brace, allowed: a name, {label} or {label~expression}'],
  ];
  for (const [pattern, why] of refused)
    it(`refuses ${pattern}`, () =>
      expect(faultMessage('CONFIG_INVALID', () => compilePathLabels(['{fine}', pattern]))).to.equal(
        `path_labels[1]: ${why}`,
      ));
});
