// One instance of Varnish as a tree: what is shown of it, as it starts, changes and ends.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { expect } from 'chai';
import type { Verdict } from '#app/model.js';
import type { VarnishWatch } from '#app/varnish/varnish-watch.js';
import { folderOf } from '#app/varnish/settings.js';
import { valuesOf, wholeSight } from '../support/polled-values.js';
import { asOrdinaryUser } from '../support/needs.js';
import {
  HEADER_BYTES,
  bodyOf,
  poke,
  schemaJson,
  segmentBytes,
  setReady,
  setValue,
} from './built-instance.js';
import { IDS, VBE, instanceFolder } from './instance-folder.js';

const PID = 4711;
const UID = getuid?.() ?? 0;

describe('a watch of an instance of Varnish', () => {
  const folder = instanceFolder();
  const pass = (ms: number) => (folder.clocks.ms += ms);
  const values = (watch: VarnishWatch) => valuesOf(wholeSight(watch));
  const verdict = (watch: VarnishWatch): Verdict => wholeSight(watch).publisher;

  describe('what it shows', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('has the values of manager and child under the names that Varnish gives them', () => {
      folder.instance();
      const watch = folder.watch();
      expect(Object.fromEntries(values(watch))).to.deep.equal({
        ' up': 1n,
        ...{ 'MGT uptime': 10n, 'MGT child_panic': 0n },
        ...{ 'MAIN uptime': 9n, 'MAIN client_req': 1000n, 'MAIN n_object': 7n },
        'MAIN s_req_hdrbytes': 123_456n,
      });
      expect(verdict(watch)).to.deep.equal({ state: 'live', reason: '2 segments are shown' });
    });

    it('has a root that is named after the host, the instance and the application', () => {
      folder.instance('shop.eu');
      const [root] = wholeSight(folder.watch({}, {}, 'shop.eu')).source?.roots ?? [];
      expect(root?.name).to.match(/\.shop_eu\.varnish$/);
    });

    it('has the values of the moment at which they are copied', () => {
      const { main } = folder.instance();
      const watch = folder.watch();
      const { source } = wholeSight(watch);
      setValue(main, 1, 1001n);
      expect(valuesOf({ source }).get('MAIN client_req')).to.equal(1001n);
    });

    it('has whole numbers of 64 bits, and 0 for a gauge that went below zero', () => {
      const { main } = folder.instance();
      setValue(main, 1, 2n ** 64n - 1n);
      setValue(main, 2, 2n ** 64n - 3n);
      const shown = values(folder.watch());
      expect(BigInt.asUintN(64, shown.get('MAIN client_req') as bigint)).to.equal(2n ** 64n - 1n);
      expect(shown.get('MAIN n_object')).to.equal(0n);
    });

    it('has segments that share a file', () => {
      const { child } = folder.instance();
      const file = child.cluster();
      child.within(file, 16, 'VBE.boot.a', segmentBytes(1, IDS.vbe, bodyOf([0n, 11n])));
      child.within(file, 200, 'VBE.boot.b', segmentBytes(1, IDS.vbe, bodyOf([0n, 22n])));
      const shown = values(folder.watch());
      expect([shown.get('VBE.boot.a req'), shown.get('VBE.boot.b req')]).to.deep.equal([11n, 22n]);
    });

    it('says whether a backend is up as soon as one of its probes was good, and not before', () => {
      const { child } = folder.instance();
      const backend = child.values('VBE.boot.a', IDS.vbe, [0n, 1n]);
      const watch = folder.watch();
      expect(values(watch).has('VBE.boot.a up')).to.equal(false);
      setValue(backend, 0, 1n);
      values(watch);
      expect(values(watch).get('VBE.boot.a up')).to.equal(1n);
      setValue(backend, 0, 2n);
      expect(values(watch).get('VBE.boot.a up')).to.equal(0n);
    });

    it('has a backend of several VCL programs once with the known names: that of the last', () => {
      const { child } = folder.instance();
      const [first, second] = ['VBE.boot.a', 'VBE.reload_2.a'].map((ident, index) =>
        child.values(ident, IDS.vbe, [0n, BigInt(index)]),
      );
      const backends = (watch: VarnishWatch) =>
        [...values(watch).keys()].filter((key) => key.startsWith('VBE') && key.endsWith('req'));
      const watch = folder.watch();
      expect(backends(watch)).to.deep.equal(['VBE.reload_2.a req']);
      expect(backends(folder.watch({ names: 'clean' }))).to.have.lengthOf(2);
      if (second !== undefined) child.remove(second);
      expect(backends(watch)).to.deep.equal(['VBE.boot.a req']);
      if (first !== undefined) setReady(first, 2);
      expect(backends(watch)).to.deep.equal([]);
    });

    it('has when its processes began, with the clean names', () => {
      folder.instance();
      const shown = values(folder.watch({ names: 'clean' }));
      expect(shown.get('manager started')).to.equal(1_700_001_000n);
      expect(shown.get('child started')).to.equal(1_700_001_001n);
    });
  });

  describe('while it runs', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('takes in segments that come, and lets go of those that are removed', () => {
      const { child } = folder.instance();
      const watch = folder.watch();
      values(watch);
      const place = child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      expect(values(watch).get('VBE.boot.a req')).to.equal(5n);
      child.remove(place);
      expect(values(watch).has('VBE.boot.a req')).to.equal(false);
    });

    it('waits for the end of a line that is being written', () => {
      const { child } = folder.instance();
      const place = child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      const { size } = statSync(child.index);
      truncateSync(child.index, size - 4);
      const watch = folder.watch();
      expect(values(watch).has('VBE.boot.a req')).to.equal(false);
      appendFileSync(child.index, `${place.line}\n`.slice(-4));
      expect(values(watch).get('VBE.boot.a req')).to.equal(5n);
    });

    it('shows a segment when it is ready, hides it with Varnish, and shows it again', () => {
      const { child } = folder.instance();
      const place = child.values('VBE.boot.a', IDS.vbe, [0n, 5n], 0);
      const watch = folder.watch();
      const has = () => values(watch).get('VBE.boot.a req');
      expect(has()).to.equal(undefined);
      setReady(place, 1);
      expect(has()).to.equal(5n);
      setReady(place, 2);
      expect(has()).to.equal(undefined);
      setReady(place, 1);
      expect(has()).to.equal(5n);
    });

    it('keeps objects when the index is written anew by the same process', () => {
      const { child } = folder.instance();
      const gone = child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      const watch = folder.watch();
      const before = [...(wholeSight(watch).source?.roots ?? [])][0]?.children;
      const main = [...(before ?? [])].find(({ name }) => name.endsWith('MAIN'));
      child.remove(gone);
      child.rewrite();
      const { source, changes } = wholeSight(watch);
      expect(changes.map(({ kind }) => kind)).to.deep.equal(['object-removed']);
      expect([...(source?.roots ?? [])][0]?.children.has(main as never)).to.equal(true);
    });

    it('never shows a value under the name of a former owner of its place', () => {
      const { child } = folder.instance();
      const file = child.cluster();
      const bytes = (req: bigint) => segmentBytes(1, IDS.vbe, bodyOf([0n, req]));
      const first = child.within(file, 16, 'VBE.boot.a', bytes(11n));
      const watch = folder.watch();
      const { source } = wholeSight(watch);
      child.remove(first);
      child.within(file, 16, 'VBE.boot.b', bytes(22n));
      expect(valuesOf({ source }).get('VBE.boot.a req')).to.equal(undefined);
      const shown = values(watch);
      expect(shown.has('VBE.boot.a req')).to.equal(false);
      expect(shown.get('VBE.boot.b req')).to.equal(22n);
    });

    it('has the values of a child that was started again', () => {
      folder.instance();
      const watch = folder.watch();
      const { source } = wholeSight(watch);
      const { main } = folder.child('shop', PID + 9);
      setValue(main, 1, 3n);
      expect(valuesOf({ source }).get('MAIN client_req')).to.equal(undefined);
      expect(values(watch).get('MAIN client_req')).to.equal(3n);
      expect(wholeSight(watch).source).to.equal(source);
    });

    it('goes on with the manager alone while there is no child', () => {
      const { child } = folder.instance();
      const watch = folder.watch();
      values(watch);
      rmSync(child.path, { recursive: true });
      expect(Object.fromEntries(values(watch))).to.deep.equal({
        ' up': 1n,
        ...{ 'MGT uptime': 10n, 'MGT child_panic': 0n },
      });
    });

    it('is another source after another start of the manager', () => {
      folder.instance();
      const watch = folder.watch();
      const before = wholeSight(watch).source?.generation;
      folder.process(PID + 5);
      folder.instance('shop', PID + 5);
      const after = wholeSight(watch).source?.generation;
      expect(after).to.be.a('string').and.not.equal(before);
    });
  });

  describe('whether it runs', () => {
    it('ends with the process of the manager, and comes back with another', () => {
      folder.process(PID);
      folder.instance();
      const watch = folder.watch();
      expect(verdict(watch).state).to.equal('live');
      folder.kill(PID);
      const seen = watch.poll();
      expect(seen.source).to.equal(undefined);
      expect(seen.publisher).to.deep.equal({
        state: 'dead',
        reason: 'varnishd ended without tidying up: its process 4711 is gone',
      });
      folder.process(PID + 5);
      folder.instance('shop', PID + 5);
      expect(verdict(watch).state).to.equal('live');
    });

    for (const [what, startS, name] of [
      ['one that started long after', 2000, 'varnishd'],
      ['another program', 900, 'nginx'],
    ] as const)
      it(`does not take ${what} with the number of the manager for it`, () => {
        folder.process(PID, startS, name);
        folder.instance();
        const watch = folder.watch();
        expect(verdict(watch).state).to.equal('building');
        pass(3001);
        expect(verdict(watch)).to.deep.equal({
          state: 'dead',
          reason:
            'varnishd ended or hangs: its process 4711 is not one of this PID namespace, and its uptime stands still',
        });
      });

    it('does not take the varnishd of another work directory with the number of the manager for it', () => {
      folder.process(PID);
      const { path } = folder.instance();
      folder.lock(path, PID);
      expect(verdict(folder.watch()).state).to.equal('live');
      folder.lock(folder.instance('other').path, PID);
      expect(verdict(folder.watch()).reason).to.equal('its uptime has not been seen to move yet');
    });

    it('is known by its beat where its process cannot be seen, as in another container', () => {
      const { mgt } = folder.instance();
      const watch = folder.watch();
      expect(verdict(watch).state).to.equal('building');
      for (const beat of [11n, 12n, 13n]) {
        pass(1000);
        setValue(mgt, 0, beat);
        expect(verdict(watch).state).to.equal('live');
      }
      pass(2900);
      expect(verdict(watch).state).to.equal('live');
      pass(200);
      expect(wholeSight(watch).source).to.equal(undefined);
      setValue(mgt, 0, 14n);
      expect(verdict(watch).state).to.equal('live');
    });

    it('is absent with a sentence where there is no directory, or none of a process', () => {
      const watch = folder.watch();
      const path = folder.path('shop');
      const absent = (reason: string) => ({ state: 'absent', reason });
      expect(verdict(watch)).to.deep.equal(absent(`there is no directory ${path}`));
      mkdirSync(path, { recursive: true });
      expect(verdict(watch)).to.deep.equal(absent(`no varnishd runs in ${path}`));
      folder.instance('other');
      expect(watch.existing()).to.deep.equal({ name: 'shop', names: ['other'] });
    });
  });

  it('explains why default means the folder of the host if there is a folder named default', () => {
    const watch = folder.watch({}, {}, 'default');
    const rule = `there is no directory ${folder.path(hostname())}: server key default means the instance without a name (varnishd -n), whose folder is named after the host`;
    expect(verdict(watch).reason).to.equal(rule);
    folder.instance('default');
    expect(verdict(watch).reason).to.equal(
      `${rule}, and not the folder default: give that instance another name`,
    );
  });

  describe('whom it believes', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('follows no link to a work directory or below it', () => {
      const { path } = folder.instance('real');
      symlinkSync(path, folder.path('shop'));
      expect(verdict(folder.watch()).state).to.equal('absent');
      const { child } = folder.instance('own');
      renameSync(child.path, `${child.path}.moved`);
      symlinkSync(`${child.path}.moved`, child.path);
      const watch = folder.watch({}, {}, 'own');
      expect(values(watch).has('MAIN uptime')).to.equal(false);
      expect(verdict(watch).reason).to.contain('1 left out: ').and.to.contain('_.vsm_child');
    });

    it('believes no directory and no file that others may write', () => {
      const { child, main } = folder.instance();
      chmodSync(main.path, 0o662);
      const watch = folder.watch();
      expect(values(watch).has('MAIN uptime')).to.equal(false);
      expect(verdict(watch).reason).to.equal(
        '1 segment is shown, 1 left out: MAIN may be written by others',
      );
      chmodSync(child.path, 0o770);
      expect(verdict(folder.watch()).reason).to.contain('_.vsm_child may be written by others');
    });

    // Only root can read as somebody else, and make a directory that belongs to somebody else.
    if (UID === 0) {
      it('says which group may read, where this user may not', () => {
        const { manager } = folder.instance();
        chmodSync(manager.path, 0o700);
        chmodSync(folder.path('..'), 0o755);
        expect(asOrdinaryUser(() => verdict(folder.watch()))).to.deep.equal({
          state: 'absent',
          reason: `${folder.path('shop')} may not be read by this user: it needs the group of ${folder.path('shop')}/_.vsm_mgt, mostly varnish`,
        });
      });

      it('believes trusted owners only, where the configuration names some', () => {
        const { child } = folder.instance();
        for (const path of [
          child.path,
          ...readdirSync(child.path).map((name) => join(child.path, name)),
        ])
          chownSync(path, 4321, 0);
        const shown = (trustedOwners: readonly number[]) =>
          values(folder.watch({}, { trustedOwners })).has('MAIN uptime');
        expect([shown([]), shown([4321]), shown([1234])]).to.deep.equal([true, true, false]);
        chownSync(folder.path('shop'), 4321, 0);
        expect(verdict(folder.watch({}, { trustedOwners: [1234] })).reason).to.contain(
          'belongs to user 4321, who is not trusted',
        );
      });
    }
  });

  describe('which instance it is', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('is the folder of the server key below the directory', () => {
      expect(folderOf('shop', folder.path(''), 'host')).to.equal('shop');
    });

    it('is that of the host for the key default, or else varnishd', () => {
      const folderNow = () => folderOf('default', folder.path(''), 'host');
      expect(folderNow()).to.equal('host');
      folder.instance('varnishd');
      expect(folderNow()).to.equal('varnishd');
      expect(verdict(folder.watch({}, {}, 'default')).state).to.equal('live');
      folder.instance('host');
      expect(folderNow()).to.equal('host');
    });
  });

  describe('what it leaves out', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('refuses a schema that it does not know, and nothing else', () => {
      const { child } = folder.instance();
      child.schema(0x77n, VBE.replace('uint64_t', 'double'));
      child.values('VBE.boot.a', 0x77n, [0n, 1n]);
      const watch = folder.watch();
      expect(values(watch).get('MAIN uptime')).to.equal(9n);
      expect(verdict(watch).reason).to.equal(
        '2 segments are shown, 1 left out: VBE.boot.a has a schema that has no whole number at happy',
      );
    });

    it('shows the segments of an incomplete schema once it is complete', () => {
      const { child } = folder.instance();
      const schema = child.schema(0x77n, VBE.replace('uint64_t', 'unknown_'));
      child.segment('Stat', 'VBE.boot.a', segmentBytes(1, 0x77n, bodyOf([1n, 2n])));
      const watch = folder.watch();
      expect(values(watch).has('VBE.boot.a req')).to.equal(false);
      poke(schema.path, schema.offset + HEADER_BYTES, Buffer.from(VBE));
      expect(values(watch).get('VBE.boot.a req')).to.equal(2n);
      poke(
        schema.path,
        schema.offset + HEADER_BYTES,
        Buffer.from(VBE.replaceAll('"req"', '"res"')),
      );
      expect(values(watch).get('VBE.boot.a res'), 'under its new name').to.equal(2n);
    });

    it('leaves out and counts the segments of schemas beyond the limit', () => {
      const { child } = folder.instance();
      for (let id = 0x1000n; id < 0x1000n + 300n; id++) {
        child.schema(id, VBE);
        child.segment('Stat', `VBE.boot.b${id}`, segmentBytes(1, id, bodyOf([1n, 2n])));
      }
      expect(verdict(folder.watch()).reason).to.match(
        /^257 segments are shown, \d+ left out: VBE\.boot\.b\d+ has one more than 256 schemas$/,
      );
    });

    it('refuses a segment that is too short for its schema', () => {
      const { child } = folder.instance();
      child.values('MAIN2', IDS.main, [1n]);
      expect(verdict(folder.watch()).reason).to.contain(
        '1 left out: MAIN2 has no room for the values of its schema',
      );
    });

    it('shows what comes behind very many segments that it refuses', () => {
      const { child } = folder.instance();
      for (let index = 0; index < 600; index++) child.values(`BAD.b${index}`, IDS.main, [1n]);
      child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      const watch = folder.watch();
      expect(values(watch).get('VBE.boot.a req')).to.equal(5n);
      expect(verdict(watch).reason).to.contain(
        '3 segments are shown, 600 left out: BAD.b0 has no room',
      );
    });

    it('shows as many objects and variables as it may', () => {
      const { child } = folder.instance();
      child.schema(0x99n, schemaJson('lck', [{ name: 'locks' }]));
      for (let index = 0; index < 20; index++) child.values(`LCK.l${index}`, 0x99n, [1n]);
      const watch = folder.watch({}, { segmentMaxItems: 20 });
      expect(values(watch).size).to.be.within(8, 20);
      expect(verdict(watch).reason).to.contain('is one too many: segment_max_items');
    });

    it('says that an index is none of Varnish', () => {
      const { manager } = folder.instance();
      manager.say('what is this\n');
      expect(verdict(folder.watch())).to.deep.equal({
        state: 'corrupt',
        reason: `${folder.path('shop')}: line 4 of the index is none of Varnish`,
      });
    });
  });
});
