import { expect } from 'chai';
import { labelsText } from '#app/exposition/text/text-syntax.js';
import fc from 'fast-check';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import type { Catalogue } from '#app/catalogue/catalogue.js';
import { FilterCoverage, compileFilters, compilePathLabels } from '#app/catalogue/match/filters.js';
import type { FilterSettings } from '#app/catalogue/match/filters.js';
import { keyPath } from '#app/document/document.js';
import { Fault } from '#app/errors.js';
import { faultMessage } from '../../support/fault-message.js';
import { placed } from '../placed.js';

const settings = (given: Partial<FilterSettings>): FilterSettings => ({
  classes: [],
  seedPathGroups: [],
  seedPaths: [],
  ...given,
});
const ads = loadCatalogues().get('ads');

describe('seed path filters', () => {
  const rows = [
    ['userDatabase', 'userDatabase', true],
    ['userDatabase', 'userDatabase.mount1', true],
    ['userDatabase', 'userDatabase.mount1.attributes', true],
    ['userDatabase', 'userDatabaseX', false],
    ['userDatabase', 'userDatabas', false],
    ['userDatabase', 'x.userDatabase', false],
    ['userDatabase', '', false],
    ['userDatabase.mount1', 'userDatabase', false],
    ['userDatabase.mount1', 'userDatabase.mount12', false],
    ['userDatabase.mount*', 'userDatabase.mount12.attributes', true],
    ['userDatabase.mount*', 'userDatabase.user1', false],
    ['userDatabase.*', 'userDatabase', false],
    ['userDatabase.*', 'userDatabase.user1', true],
    ['*.rrcpTransport', '0.rrcpTransport.0', true],
    ['*.rrcpTransport', 'rrcpTransport.0', false],
    ['*.rrcpTransport', 'a.b.rrcpTransport', false],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'axxbyyc.d', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['*', 'anything at all', true],
    ['*', '', false],
    ['userDatabase.{~user[0-9]+}', 'userDatabase.user1', 'refused'],
    ['userDatabase.{user~user[0-9]+}', 'userDatabase.user1.dataStreams', true],
    ['userDatabase.{user~user[0-9]+}', 'userDatabase.userRequests', false],
    ['itemDatabase.# x', 'itemDatabase.# x', true],
    ['rrcpTransport.', 'rrcpTransport.', true],
    ['rrcpTransport.', 'rrcpTransport', false],
    ['a.b', 'a', false],
    ['a(b', 'a(b', true],
    ['@root', '', true],
    ['@root', 'admin', false],
    ['@rot', '', 'refused'],
    ['@root.admin', '', 'refused'],
    ['', '', 'refused'],
  ] as const;
  for (const [prefix, path, wanted] of rows)
    it(`with ${prefix === '' ? 'an empty path' : `"${prefix}"`} ${wanted === 'refused' ? 'are refused' : `${wanted ? 'select' : 'exclude'} ${path === '' ? 'the root' : `"${path}"`}`}`, () => {
      const filters = () => compileFilters(undefined, settings({ seedPaths: [prefix] }));
      if (wanted === 'refused') expect(filters).to.throw(Fault, 'seed_paths[0]: ');
      else expect(filters().tracks(placed('C', path))).to.equal(wanted);
    });

  it('select all objects below a prefix, but no sibling whose name begins with the prefix', () => {
    const segment = fc.stringMatching(/^[a-z# ]{1,5}$/);
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), segment, (path, more) => {
        const prefix = path.join('.');
        const filters = compileFilters(undefined, settings({ seedPaths: [prefix] }));
        expect(filters.tracks(placed('C', prefix))).to.equal(true);
        expect(filters.tracks(placed('C', `${prefix}.${more}`))).to.equal(true);
        expect(filters.tracks(placed('C', prefix + more))).to.equal(false);
        expect(filters.tracks(placed('C', path.slice(1).join('.')))).to.equal(
          path.slice(1).join('.').startsWith(`${prefix}.`),
        );
      }),
    );
  });

  it('combine groups and paths into one set of prefixes', () => {
    const given = settings({ seedPathGroups: ['health'], seedPaths: ['itemDatabase'] });
    const { tracks } = compileFilters(ads, given);
    const paths = [
      '',
      'admin.MemoryStats',
      'trlsManager',
      'itemDatabase.S',
      'userDatabase',
      'admin',
    ];
    expect(paths.filter((path) => tracks(placed('C', path)))).to.deep.equal(paths.slice(0, 4));
  });
});

describe('class filters', () => {
  const { tracks, rowIndex } = compileFilters(
    ads,
    settings({ classes: ['source_service', 'process'] }),
  );

  const rows: [string, Parameters<typeof placed>, boolean][] = [
    ['the root, which a row of the class reads', ['ManagedProcess.SinkDist', ''], true],
    [
      'a child, which a row of the class reads',
      [
        'ServiceInsert.SinkDist',
        'serviceDB.S.inserts',
        { 'serviceDB.S': 'Service.SinkDist.RRMP6' },
      ],
      true,
    ],
    ['the parent, which no row reads', ['Service.SinkDist.RRMP6', 'serviceDB.S'], false],
    [
      'a child, which no row reads',
      [
        'DataStreamSink6',
        'serviceDB.S.outgoingMessages',
        { 'serviceDB.S': 'Service.SinkDist.RRMP6' },
      ],
      false,
    ],
    [
      'an object of the class at another path',
      ['ServiceInsert.SinkDist', 'x.S.inserts', { 'x.S': 'Service.SinkDist.RRMP6' }],
      false,
    ],
    ['an object of another published class', ['ShmemMOServerStats', 'admin.MemoryStats'], false],
  ];
  for (const [what, place, wanted] of rows)
    it(`${wanted ? 'track' : 'exclude'} ${what}`, () =>
      expect(tracks(placed(...place))).to.equal(wanted));

  it('also limit the exposed metrics (spec 1.8)', () => {
    const stats = placed('ShmemMOServerStats', 'admin.MemoryStats');
    expect(rowIndex?.reads(stats)).to.equal(false);
    expect(compileFilters(ads, settings({})).rowIndex?.reads(stats)).to.equal(true);
  });

  it('select an object only if the seed paths also select the object', () => {
    const both = compileFilters(
      ads,
      settings({ classes: ['service'], seedPaths: ['itemDatabase.A'] }),
    );
    const service = (name: string) => placed('ConsumerService.SinkDist', `itemDatabase.${name}`);
    expect(both.tracks(service('A'))).to.equal(true);
    expect(both.tracks(service('B'))).to.equal(false);
    expect(both.tracks(placed('Other', 'itemDatabase.A'))).to.equal(false);
  });

  it('are valid even if they select no metric (spec 7.3)', () => {
    const none = compileFilters(
      ads,
      settings({ classes: ['license'], seedPaths: ['userDatabase'] }),
    );
    expect(none.tracks(placed('TrlsManager', 'trlsManager'))).to.equal(false);
    expect(none.tracks(placed('ConsumerDb.SinkDist', 'userDatabase'))).to.equal(false);
  });
});

describe('a target without filters', () => {
  const all = compileFilters(ads, settings({}));
  const unread = placed('DebugLog', 'debugLogger');
  const read = placed('TrlsManager', 'trlsManager');

  it('tracks every object under the root', () => {
    expect([unread, read, placed('X', '')].every(all.tracks)).to.equal(true);
    expect(compileFilters(undefined, settings({})).tracks(unread)).to.equal(true);
  });
});

describe('invalid filters', () => {
  const complaints = (catalogue: Catalogue | undefined, given: Partial<FilterSettings>) => {
    const problems: string[] = [];
    compileFilters(catalogue, settings(given), (path, sentence) =>
      problems.push(`${keyPath(path)}: ${sentence}`),
    );
    return problems;
  };

  it('are all reported, each with its key, the nearest name and all valid names', () => {
    const aliases = ads?.classes.map(({ alias }) => alias).join(', ') ?? '';
    const groups = [...(ads?.seedPathGroups.keys() ?? [])].join(', ');
    expect(
      complaints(ads, {
        classes: ['server', 'servr'],
        seedPathGroups: ['health', 'helth'],
        seedPaths: ['a.{', 'b', '', '@rot'],
      }),
    ).to.deep.equal([
      `classes[1]: found "servr" (did you mean "server"?), allowed for the application ads: ${aliases}`,
      `seed_path_groups[1]: found "helth" (did you mean "health"?), allowed for the application ads: ${groups}`,
      'seed_paths[0]: "{" has a stray brace, allowed: a name, {label} or {label~expression}',
      'seed_paths[2]: a seed path is empty, allowed: @root or names separated by dots',
      'seed_paths[3]: "@rot" is not a seed path, did you mean @root?',
    ]);
  });

  it('include every filter group, but no class or seed path, if the application has no catalogue', () =>
    expect(
      complaints(undefined, { classes: ['C'], seedPathGroups: ['health'], seedPaths: ['a'] }),
    ).to.deep.equal([
      'seed_path_groups[0]: found "health", but no catalogue defines a filter group for the application, allowed: published class ids, and seed_paths',
    ]));

  it('cause an exception if the caller passes no error handler', () =>
    expect(() => compileFilters(ads, settings({ classes: ['servr'] }))).to.throw(
      Fault,
      'classes[0]: found "servr" (did you mean "server"?)',
    ));
});

// Patterns that name path segments, and the labels of objects.
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
    it(`${patterns.map((pattern) => `"${pattern}"`).join(' and ') || 'without a pattern'} give ${path === '' ? 'the root' : `"${path}"`} ${labelsText(labels) || 'no labels'}`, () =>
      expect(compilePathLabels(patterns)(path)).to.deep.equal(labels));

  it('give each object its whole path in labels if the patterns name each segment', () => {
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
      '"floor" has no {label}, allowed: names separated by dots, at least one of them a {label}',
    ],
    [
      '@root',
      '"@root" has no {label}, allowed: names separated by dots, at least one of them a {label}',
    ],
    ['{object}', 'the labels object and value are reserved for series without a catalogue row'],
    ['{value}', 'the labels object and value are reserved for series without a catalogue row'],
    ['{job}', '"job" is a reserved label, as are instance, job, le, quantile'],
    ['{a-b}', '"a-b" is not a label name, allowed: letters, digits and _'],
    ['{a}.{a}', '"{a}.{a}" gives the same label twice'],
    ['a{b}', '"a{b}" has a stray brace, allowed: a name, {label} or {label~expression}'],
  ];
  for (const [pattern, why] of refused)
    it(`refuse the pattern "${pattern}"`, () =>
      expect(faultMessage('CONFIG_INVALID', () => compilePathLabels(['{fine}', pattern]))).to.equal(
        `path_labels[1]: ${why}`,
      ));
});

// Tests FilterCoverage, which finds the filter entries of a target that match no object.
const NONE: FilterSettings = { classes: [], seedPathGroups: [], seedPaths: [] };

describe('the count of unmatched filters', () => {
  const unmatched = (settings: Partial<FilterSettings>, objects: readonly [string, string][]) => {
    const filters = compileFilters(undefined, { ...NONE, ...settings });
    const fit = new FilterCoverage(filters);
    for (const [seedPath, className] of objects) {
      const object = placed(className, seedPath);
      if (filters.tracks(object)) fit.addObject(object);
    }
    return fit.unmatched;
  };

  const rows: readonly [string, Partial<FilterSettings>, readonly [string, string][], number][] = [
    ['is 0 without filters', {}, [], 0],
    [
      'includes all filters before the first object',
      { classes: ['A', 'B'], seedPaths: ['x'] },
      [],
      3,
    ],
    ['omits a class once an object has the class', { classes: ['A', 'B'] }, [['x', 'A']], 1],
    [
      'omits a seed path once an object is below the path',
      { seedPaths: ['x', 'y'] },
      [['x.1', 'A']],
      1,
    ],
    ['omits @root once there is a root', { seedPaths: ['@root', 'y'] }, [['', 'A']], 1],
    [
      'includes a class if the seed paths exclude its only object',
      { classes: ['A'], seedPaths: ['y'] },
      [['x', 'A']],
      2,
    ],
  ];
  for (const [title, settings, objects, count] of rows)
    it(title, () => expect(unmatched(settings, objects)).to.equal(count));

  it('includes class aliases and filter groups of the catalogue', () => {
    const ads = loadCatalogues().get('ads');
    const [alias = ''] = ads?.classes.map((each) => each.alias) ?? [];
    const [group = ''] = ads?.seedPathGroups.keys() ?? [];
    const filters = compileFilters(ads, { ...NONE, classes: [alias], seedPathGroups: [group] });
    expect(new FilterCoverage(filters).unmatched).to.equal(2);
  });
});
