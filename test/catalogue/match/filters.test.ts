import { expect } from 'chai';
import fc from 'fast-check';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { compileFilters } from '#app/catalogue/match/filters.js';
import type { FilterSettings } from '#app/catalogue/match/filters.js';
import type { Catalogue } from '#app/catalogue/catalogue.js';
import { keyPath } from '#app/document/document.js';
import { Fault } from '#app/errors.js';
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
    it(`${prefix || '(nothing)'} and ${path || 'the root'}: ${String(wanted)}`, () => {
      const filters = () => compileFilters(undefined, settings({ seedPaths: [prefix] }));
      if (wanted === 'refused') expect(filters).to.throw(Fault, 'seed_paths[0]: ');
      else expect(filters().tracks(placed('C', path))).to.equal(wanted);
    });

  it('let everything below a prefix through, and no sibling that merely begins like it', () => {
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

  it('unite groups and paths into one set of prefixes', () => {
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
  const { tracks, rules } = compileFilters(
    ads,
    settings({ classes: ['source_service', 'process'] }),
  );

  const rows: [string, Parameters<typeof placed>, boolean][] = [
    ['the root that a class reads', ['ManagedProcess.SinkDist', ''], true],
    [
      'a child that a class reads',
      [
        'ServiceInsert.SinkDist',
        'serviceDB.S.inserts',
        { 'serviceDB.S': 'Service.SinkDist.RRMP6' },
      ],
      true,
    ],
    [
      'the parent, of which no row reads anything',
      ['Service.SinkDist.RRMP6', 'serviceDB.S'],
      false,
    ],
    [
      'a child that no row reads',
      [
        'DataStreamSink6',
        'serviceDB.S.outgoingMessages',
        { 'serviceDB.S': 'Service.SinkDist.RRMP6' },
      ],
      false,
    ],
    [
      'an object of the class elsewhere',
      ['ServiceInsert.SinkDist', 'x.S.inserts', { 'x.S': 'Service.SinkDist.RRMP6' }],
      false,
    ],
    ['an object of another class', ['ShmemMOServerStats', 'admin.MemoryStats'], false],
  ];
  for (const [what, place, wanted] of rows)
    it(`${wanted ? 'track' : 'leave'} ${what}`, () =>
      expect(tracks(placed(...place))).to.equal(wanted));

  it('limit the metrics emitted as well (spec 1.8)', () => {
    const stats = placed('ShmemMOServerStats', 'admin.MemoryStats');
    expect(rules?.reads(stats)).to.equal(false);
    expect(compileFilters(ads, settings({})).rules?.reads(stats)).to.equal(true);
  });

  it('and seed paths must both hold', () => {
    const both = compileFilters(
      ads,
      settings({ classes: ['service'], seedPaths: ['itemDatabase.A'] }),
    );
    const service = (name: string) => placed('ConsumerService.SinkDist', `itemDatabase.${name}`);
    expect(both.tracks(service('A'))).to.equal(true);
    expect(both.tracks(service('B'))).to.equal(false);
    expect(both.tracks(placed('Other', 'itemDatabase.A'))).to.equal(false);
  });

  it('may select no metrics at all: then none are emitted (spec 7.3)', () => {
    const none = compileFilters(
      ads,
      settings({ classes: ['license'], seedPaths: ['userDatabase'] }),
    );
    expect(none.tracks(placed('TrlsManager', 'trlsManager'))).to.equal(false);
    expect(none.tracks(placed('ConsumerDb.SinkDist', 'userDatabase'))).to.equal(false);
  });
});

describe('without filters', () => {
  const all = compileFilters(ads, settings({}));
  const unread = placed('DebugLog', 'debugLogger');
  const read = placed('TrlsManager', 'trlsManager');

  it('every object under the root is tracked', () => {
    expect([unread, read, placed('X', '')].every(all.tracks)).to.equal(true);
    expect(compileFilters(undefined, settings({})).tracks(unread)).to.equal(true);
  });
});

describe('wrong filters', () => {
  const complaints = (catalogue: Catalogue | undefined, given: Partial<FilterSettings>) => {
    const told: string[] = [];
    compileFilters(catalogue, settings(given), (path, sentence) =>
      told.push(`${keyPath(path)}: ${sentence}`),
    );
    return told;
  };

  it('are all told, each by its place, with the nearest and all valid names', () => {
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
      'seed_paths[2]: a seed path is empty, allowed: @root or names split by dots',
      'seed_paths[3]: "@rot" is no seed path, did you mean @root?',
    ]);
  });

  it('are groups of an application without a catalogue; classes and seed paths need none', () =>
    expect(
      complaints(undefined, { classes: ['C'], seedPathGroups: ['health'], seedPaths: ['a'] }),
    ).to.deep.equal([
      'seed_path_groups[0]: found "health", but the application has no catalogue, so it knows no filter group; allowed: classes as published, and seed_paths',
    ]));

  it('are a fault where nobody takes the complaints', () =>
    expect(() => compileFilters(ads, settings({ classes: ['servr'] }))).to.throw(
      Fault,
      'classes[0]: found "servr" (did you mean "server"?)',
    ));
});
