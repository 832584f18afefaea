// Which entries of a target's filters have matched nothing.
import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { FilterFit, compileFilters } from '#app/catalogue/match/filters.js';
import type { FilterSettings } from '#app/catalogue/match/filters.js';
import { placed } from '../placed.js';

const NONE: FilterSettings = { classes: [], seedPathGroups: [], seedPaths: [] };

describe('FilterFit', () => {
  const unmatched = (settings: Partial<FilterSettings>, objects: readonly [string, string][]) => {
    const filters = compileFilters(undefined, { ...NONE, ...settings });
    const fit = new FilterFit(filters);
    for (const [seedPath, className] of objects) {
      const object = placed(className, seedPath);
      if (filters.tracks(object)) fit.take(object);
    }
    return fit.unmatched;
  };

  const rows: readonly [string, Partial<FilterSettings>, readonly [string, string][], number][] = [
    ['without filters nothing is unmatched', {}, [], 0],
    ['before the first object all entries are', { classes: ['A', 'B'], seedPaths: ['x'] }, [], 3],
    ['a class that an object has is matched', { classes: ['A', 'B'] }, [['x', 'A']], 1],
    ['a seed path above an object is matched', { seedPaths: ['x', 'y'] }, [['x.1', 'A']], 1],
    ['the root matches @root', { seedPaths: ['@root', 'y'] }, [['', 'A']], 1],
    [
      'an object that the other filters leave out matches nothing',
      { classes: ['A'], seedPaths: ['y'] },
      [['x', 'A']],
      2,
    ],
  ];
  for (const [sentence, settings, objects, count] of rows)
    it(sentence, () => expect(unmatched(settings, objects)).to.equal(count));

  it('knows aliases and groups by the catalogue', () => {
    const ads = loadCatalogues().get('ads');
    const [alias = ''] = ads?.classes.map((each) => each.alias) ?? [];
    const [group = ''] = ads?.seedPathGroups.keys() ?? [];
    const filters = compileFilters(ads, { ...NONE, classes: [alias], seedPathGroups: [group] });
    expect(new FilterFit(filters).unmatched).to.equal(2);
  });
});
