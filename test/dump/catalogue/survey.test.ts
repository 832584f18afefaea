// Tests the drafted path pattern for the objects of a class.
import { expect } from 'chai';
import { pathDraft } from '#app/dump/catalogue/survey.js';

const ROWS: readonly (readonly [paths: readonly string[], pattern: string, guesses: number])[] = [
  [[], '@root', 0],
  [['userDatabase'], 'userDatabase', 0],
  [['floor.a', 'floor.b'], 'floor.{floor}', 1],
  [['floors.a', 'floors.b'], 'floors.{floor}', 1],
  [['floor.till1', 'floor.till12'], 'floor.{till~till[0-9]+}', 1],
  [['floor.till1'], 'floor.{till~till[0-9]+}', 1],
  [['worker.1'], 'worker.{worker~[0-9]+}', 1],
  [['a', 'b'], '{till}', 1],
  [['a.x', 'b.y'], '{part_1}.{till}', 2],
  [['sink.ripc.bus', 'sink.rest.bus'], 'sink.{sink}.bus', 1],
  [['sink.a.1', 'sink.b.2'], 'sink.{sink}.{till~[0-9]+}', 2],
  [['job.a', 'job.b'], 'job.{till}', 1],
  [['{x}'], '{till}', 1],
  [['@root'], '{till}', 1],
  [['a..b'], 'a.{a}.b', 1],
  [[`${'x'.repeat(2000)}.b`], '{part_1}.{part_2}', 1],
];

/** Returns the quoted paths, with long segments shortened. */
const pathsText = (paths: readonly string[]): string =>
  paths.map((path) => `"${path.replace(/x{9,}/, 'x…x')}"`).join(' and ') || 'the root';

describe('The drafted path pattern for', () => {
  for (const [paths, pattern, guesses] of ROWS)
    it(`${pathsText(paths)} is "${pattern}"`, () => {
      const split = paths.map((path) => path.split('.'));
      const segments = (split[0] ?? []).map(
        (_, index) => new Set(split.map((path) => path[index] ?? '')),
      );
      const draft = pathDraft(segments, 'till');
      expect(draft.pattern).to.equal(pattern);
      expect(draft.guesses).to.have.lengthOf(guesses);
    });

  it('many paths has a comment with examples for each label', () =>
    expect(pathDraft([new Set(['a', 'b', 'c', 'd'])], 'till').guesses).to.deep.equal([
      'label till for "a", "b", "c" and others',
    ]));
});
