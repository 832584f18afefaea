import { expect } from 'chai';
import fc from 'fast-check';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { compileFilters, readOnly } from '#app/catalogue/filters.js';
import type { FilterSettings } from '#app/catalogue/filters.js';
import { Fault } from '#app/errors.js';
import { placed } from './placed.js';

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
      if (wanted === 'refused') expect(filters).to.throw(Fault, 'seed_paths: ');
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

  it('are class ids where the application has no catalogue', () => {
    const own = compileFilters(undefined, settings({ classes: ['C'] }));
    expect(own.rules).to.equal(undefined);
    expect(own.tracks(placed('C', 'a'))).to.equal(true);
    expect(own.tracks(placed('D', 'a'))).to.equal(false);
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

  it('readOnly leaves only the objects that some row reads', () => {
    expect(readOnly(all).tracks(read)).to.equal(true);
    expect(readOnly(all).tracks(unread)).to.equal(false);
    expect(readOnly(compileFilters(undefined, settings({}))).tracks(unread)).to.equal(true);
  });
});

describe('wrong filters', () => {
  it('are refused with all their problems and the valid names', () => {
    const given = settings({ classes: ['servr'], seedPathGroups: ['helth'], seedPaths: ['a.{'] });
    let message = '';
    try {
      compileFilters(ads, given, 'targets[1]');
    } catch (thrown) {
      if (thrown instanceof Fault) message = `${thrown.code} ${thrown.message}`;
    }
    expect(message.split('\n').map((line) => line.slice(0, 90))).to.deep.equal([
      'CONFIG_INVALID targets[1].seed_path_groups: unknown filter group "helth" of application ads (did you mean "health"?), allowed: health, clients'.slice(
        0,
        90,
      ),
      'targets[1].seed_paths: "{" has a stray brace, allowed: a name, {label} or {label~expression}'.slice(
        0,
        90,
      ),
      'targets[1].classes: unknown class alias "servr" of application ads (did you mean "server"?)'.slice(
        0,
        90,
      ),
    ]);
    for (const alias of ads?.classes.map((owner) => owner.alias) ?? [])
      expect(message).to.include(alias);
  });

  it('name a group of an application that has no catalogue', () => {
    expect(() => compileFilters(undefined, settings({ seedPathGroups: ['health'] }))).to.throw(
      Fault,
      'seed_path_groups: unknown filter group "health": the application has none',
    );
  });
});
