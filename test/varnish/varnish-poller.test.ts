// Tests the tree of one Varnish instance while it starts, changes and ends.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
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
import type { VarnishPoller } from '#app/varnish/varnish-poller.js';
import { folderOf } from '#app/varnish/settings.js';
import { valuesOf, pollAll } from '../support/polled-values.js';
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
import { BIRTH, IDS, VBE, instanceFolder } from './instance-folder.js';

const PID = 4711;

/** The files that this process has open. */
const openFiles = (): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return []; // the list itself
    }
  });
const UID = getuid?.() ?? 0;

describe('A Varnish poller', () => {
  const folder = instanceFolder();
  const pass = (ms: number) => (folder.clocks.ms += ms);
  const values = (poller: VarnishPoller) => valuesOf(pollAll(poller));
  const verdict = (poller: VarnishPoller): Verdict => pollAll(poller).publisher;

  describe('with a running manager', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('has the values of manager and child under their names in Varnish', () => {
      folder.instance();
      const poller = folder.poller();
      expect(Object.fromEntries(values(poller))).to.deep.equal({
        ' up': 1n,
        ...{ 'MGT uptime': 10n, 'MGT child_panic': 0n },
        ...{ 'MAIN uptime': 9n, 'MAIN client_req': 1000n, 'MAIN n_object': 7n },
        'MAIN s_req_hdrbytes': 123_456n,
      });
      expect(verdict(poller)).to.deep.equal({ state: 'live', reason: '2 segments are shown' });
    });

    it('has a root named after the host, the instance and the application', () => {
      folder.instance('shop.eu');
      const [root] = pollAll(folder.poller({}, {}, 'shop.eu')).source?.roots ?? [];
      expect(root?.name).to.match(/\.shop_eu\.varnish$/);
    });

    it('states for each segment when the process of the segment started', () => {
      folder.instance();
      const { source } = pollAll(folder.poller());
      const [root] = source?.roots ?? [];
      const starts = [...(root?.children ?? [])].map(({ className, startedUnixMs }) => [
        className,
        startedUnixMs,
      ]);
      expect(starts)
        .to.deep.include(['mgt', BIRTH * 1000])
        .and.to.deep.include(['main', (BIRTH + 1) * 1000]);
    });

    it('opens no file for copies of values after its end', () => {
      folder.instance();
      const poller = folder.poller();
      const seen = pollAll(poller);
      poller.close();
      const before = openFiles();
      expect(valuesOf(seen).get('MAIN client_req')).to.equal(undefined);
      expect(openFiles()).to.deep.equal(before);
    });

    it('reads current values at each copy', () => {
      const { main } = folder.instance();
      const poller = folder.poller();
      const { source } = pollAll(poller);
      setValue(main, 1, 1001n);
      expect(valuesOf({ source }).get('MAIN client_req')).to.equal(1001n);
    });

    it('shows 64-bit integers exactly, and a negative gauge as 0', () => {
      const { main } = folder.instance();
      setValue(main, 1, 2n ** 64n - 1n);
      setValue(main, 2, 2n ** 64n - 3n);
      const shown = values(folder.poller());
      expect(BigInt.asUintN(64, shown.get('MAIN client_req') as bigint)).to.equal(2n ** 64n - 1n);
      expect(shown.get('MAIN n_object')).to.equal(0n);
    });

    it('reads segments that share a file', () => {
      const { child } = folder.instance();
      const file = child.cluster();
      child.within(file, 16, 'VBE.boot.a', segmentBytes(1, IDS.vbe, bodyOf([0n, 11n])));
      child.within(file, 200, 'VBE.boot.b', segmentBytes(1, IDS.vbe, bodyOf([0n, 22n])));
      const shown = values(folder.poller());
      expect([shown.get('VBE.boot.a req'), shown.get('VBE.boot.b req')]).to.deep.equal([11n, 22n]);
    });

    it('has the metric "up" of a backend only after the first successful probe of the backend', () => {
      const { child } = folder.instance();
      const backend = child.values('VBE.boot.a', IDS.vbe, [0n, 1n]);
      const poller = folder.poller();
      expect(values(poller).has('VBE.boot.a up')).to.equal(false);
      setValue(backend, 0, 1n);
      values(poller);
      expect(values(poller).get('VBE.boot.a up')).to.equal(1n);
      setValue(backend, 0, 2n);
      expect(values(poller).get('VBE.boot.a up')).to.equal(0n);
    });

    it('shows a backend of several VCL programs once under the compatible names, with values of the last program', () => {
      const { child } = folder.instance();
      const [first, second] = ['VBE.boot.a', 'VBE.reload_2.a'].map((ident, index) =>
        child.values(ident, IDS.vbe, [0n, BigInt(index)]),
      );
      const backends = (poller: VarnishPoller) =>
        [...values(poller).keys()].filter((key) => key.startsWith('VBE') && key.endsWith('req'));
      const poller = folder.poller();
      expect(backends(poller)).to.deep.equal(['VBE.reload_2.a req']);
      expect(backends(folder.poller({ names: 'clean' }))).to.have.lengthOf(2);
      if (second !== undefined) child.remove(second);
      expect(backends(poller)).to.deep.equal(['VBE.boot.a req']);
      if (first !== undefined) setReady(first, 2);
      expect(backends(poller)).to.deep.equal([]);
    });

    it('shows the start times of its processes under the clean names', () => {
      folder.instance();
      const shown = values(folder.poller({ names: 'clean' }));
      expect(shown.get('manager started')).to.equal(1_700_001_000n);
      expect(shown.get('child started')).to.equal(1_700_001_001n);
    });
  });

  describe('whose instance changes', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('adds new segments, and drops removed ones', () => {
      const { child } = folder.instance();
      const poller = folder.poller();
      values(poller);
      const place = child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      expect(values(poller).get('VBE.boot.a req')).to.equal(5n);
      child.remove(place);
      expect(values(poller).has('VBE.boot.a req')).to.equal(false);
    });

    it('waits until an incomplete line of the index is complete', () => {
      const { child } = folder.instance();
      const place = child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      const { size } = statSync(child.index);
      truncateSync(child.index, size - 4);
      const poller = folder.poller();
      expect(values(poller).has('VBE.boot.a req')).to.equal(false);
      appendFileSync(child.index, `${place.line}\n`.slice(-4));
      expect(values(poller).get('VBE.boot.a req')).to.equal(5n);
    });

    it('shows a segment only while Varnish marks it as ready', () => {
      const { child } = folder.instance();
      const place = child.values('VBE.boot.a', IDS.vbe, [0n, 5n], 0);
      const poller = folder.poller();
      const has = () => values(poller).get('VBE.boot.a req');
      expect(has()).to.equal(undefined);
      setReady(place, 1);
      expect(has()).to.equal(5n);
      setReady(place, 2);
      expect(has()).to.equal(undefined);
      setReady(place, 1);
      expect(has()).to.equal(5n);
    });

    it('keeps objects when the same process rewrites the index', () => {
      const { child } = folder.instance();
      const gone = child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      const poller = folder.poller();
      const before = [...(pollAll(poller).source?.roots ?? [])][0]?.children;
      const main = [...(before ?? [])].find(({ name }) => name.endsWith('MAIN'));
      child.remove(gone);
      child.rewrite();
      const { source, changes } = pollAll(poller);
      expect(changes.map(({ kind }) => kind)).to.deep.equal(['object-removed']);
      expect([...(source?.roots ?? [])][0]?.children.has(main as never)).to.equal(true);
    });

    it('never shows the value of a segment under the name of the previous segment at its offset', () => {
      const { child } = folder.instance();
      const file = child.cluster();
      const bytes = (req: bigint) => segmentBytes(1, IDS.vbe, bodyOf([0n, req]));
      const first = child.within(file, 16, 'VBE.boot.a', bytes(11n));
      const poller = folder.poller();
      const { source } = pollAll(poller);
      child.remove(first);
      child.within(file, 16, 'VBE.boot.b', bytes(22n));
      expect(valuesOf({ source }).get('VBE.boot.a req')).to.equal(undefined);
      const shown = values(poller);
      expect(shown.has('VBE.boot.a req')).to.equal(false);
      expect(shown.get('VBE.boot.b req')).to.equal(22n);
    });

    it('has the values of a restarted child', () => {
      folder.instance();
      const poller = folder.poller();
      const { source } = pollAll(poller);
      const { main } = folder.child('shop', PID + 9);
      setValue(main, 1, 3n);
      expect(valuesOf({ source }).get('MAIN client_req')).to.equal(undefined);
      expect(values(poller).get('MAIN client_req')).to.equal(3n);
      expect(pollAll(poller).source).to.equal(source);
    });

    it('shows only the manager while there is no child', () => {
      const { child } = folder.instance();
      const poller = folder.poller();
      values(poller);
      rmSync(child.path, { recursive: true });
      expect(Object.fromEntries(values(poller))).to.deep.equal({
        ' up': 1n,
        ...{ 'MGT uptime': 10n, 'MGT child_panic': 0n },
      });
    });

    it('starts a new source after a restart of the manager', () => {
      folder.instance();
      const poller = folder.poller();
      const before = pollAll(poller).source?.generation;
      folder.process(PID + 5);
      folder.instance('shop', PID + 5);
      const after = pollAll(poller).source?.generation;
      expect(after).to.be.a('string').and.not.equal(before);
    });
  });

  describe('that checks processes', () => {
    it('reports the state dead when the manager ends, and live with a new manager', () => {
      folder.process(PID);
      folder.instance();
      const poller = folder.poller();
      expect(verdict(poller).state).to.equal('live');
      folder.kill(PID);
      const seen = poller.poll();
      expect(seen.source).to.equal(undefined);
      expect(seen.publisher).to.deep.equal({
        state: 'dead',
        reason: 'varnishd ended without cleaning up: its process 4711 is gone',
      });
      folder.process(PID + 5);
      folder.instance('shop', PID + 5);
      expect(verdict(poller).state).to.equal('live');
    });

    it('opens the last values of an instance whose manager has ended', () => {
      folder.process(PID);
      folder.instance();
      const poller = folder.poller();
      poller.openLast()?.close();
      const live = Object.fromEntries(values(poller));
      folder.kill(PID);
      const result = pollAll(poller);
      const last = poller.openLast();
      while (last?.readMore() === true);
      expect(Object.fromEntries(valuesOf({ ...result, source: last?.source }))).to.deep.equal(live);
      expect(last?.ageSeconds).to.be.closeTo(Date.now() / 1000 - BIRTH - 10, 60);
      last?.close();
      rmSync(folder.instance().path, { recursive: true });
      expect(() => poller.openLast()).to.throw(/ENOENT/);
    });

    for (const [what, startS, name] of [
      ['started long after the instance', 2000, 'varnishd'],
      ['runs another program', 900, 'nginx'],
    ] as const)
      it(`does not accept the PID of the manager if its process ${what}`, () => {
        folder.process(PID, startS, name);
        folder.instance();
        const poller = folder.poller();
        expect(verdict(poller).state).to.equal('building');
        pass(3001);
        expect(verdict(poller)).to.deep.equal({
          state: 'dead',
          reason:
            'varnishd ended or hangs: its process 4711 is in another PID namespace, and its uptime does not increase',
        });
      });

    it('does not accept the PID of the manager if its process is the varnishd of another work directory', () => {
      folder.process(PID);
      const { path } = folder.instance();
      folder.lock(path, PID);
      expect(verdict(folder.poller()).state).to.equal('live');
      folder.lock(folder.instance('other').path, PID);
      expect(verdict(folder.poller()).reason).to.equal('its uptime has not increased yet');
    });

    it('uses the heartbeat if the process is invisible, for example in another container', () => {
      const { mgt } = folder.instance();
      const poller = folder.poller();
      expect(verdict(poller).state).to.equal('building');
      for (const beat of [11n, 12n, 13n]) {
        pass(1000);
        setValue(mgt, 0, beat);
        expect(verdict(poller).state).to.equal('live');
      }
      pass(2900);
      expect(verdict(poller).state).to.equal('live');
      pass(200);
      expect(pollAll(poller).source).to.equal(undefined);
      setValue(mgt, 0, 14n);
      expect(verdict(poller).state).to.equal('live');
    });

    it('reports the state absent, with a reason, if the work directory or the process is missing', () => {
      const poller = folder.poller();
      const path = folder.path('shop');
      const absent = (reason: string) => ({ state: 'absent', reason });
      expect(verdict(poller)).to.deep.equal(absent(`there is no directory ${path}`));
      mkdirSync(path, { recursive: true });
      expect(verdict(poller)).to.deep.equal(absent(`no varnishd runs in ${path}`));
      folder.instance('other');
      expect(poller.availableNames()).to.deep.equal({ name: 'shop', names: ['other'] });
    });
  });

  it('explains, if a folder "default" exists, that the server key "default" means the folder named after the host', () => {
    const poller = folder.poller({}, {}, 'default');
    const rule = `there is no directory ${folder.path(hostname())}: server key default means the instance without a name (varnishd -n), whose folder is named after the host`;
    expect(verdict(poller).reason).to.equal(rule);
    folder.instance('default');
    expect(verdict(poller).reason).to.equal(
      `${rule}; the folder default belongs to another instance: give that instance another name`,
    );
  });

  describe('that checks the owners of files', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('follows no link to or inside a work directory', () => {
      const { path } = folder.instance('real');
      symlinkSync(path, folder.path('shop'));
      expect(verdict(folder.poller()).state).to.equal('absent');
      const { child } = folder.instance('own');
      renameSync(child.path, `${child.path}.moved`);
      symlinkSync(`${child.path}.moved`, child.path);
      const poller = folder.poller({}, {}, 'own');
      expect(values(poller).has('MAIN uptime')).to.equal(false);
      expect(verdict(poller).reason).to.contain('1 left out: ').and.to.contain('_.vsm_child');
    });

    it('refuses directories and files that other users may write', () => {
      const { child, main } = folder.instance();
      chmodSync(main.path, 0o662);
      const poller = folder.poller();
      expect(values(poller).has('MAIN uptime')).to.equal(false);
      expect(verdict(poller).reason).to.equal(
        '1 segment is shown, 1 left out: MAIN is writable by other users',
      );
      chmodSync(child.path, 0o770);
      expect(verdict(folder.poller()).reason).to.contain('_.vsm_child is writable by other users');
    });

    // Only root can change the user id and create a directory that belongs to another user.
    if (UID === 0) {
      it('names the group that may read the files if the user of the poller may not', () => {
        const { manager } = folder.instance();
        chmodSync(manager.path, 0o700);
        chmodSync(folder.path('..'), 0o755);
        expect(asOrdinaryUser(() => verdict(folder.poller()))).to.deep.equal({
          state: 'absent',
          reason: `${folder.path('shop')} cannot be read: add the user of the exporter to the group of ${folder.path('shop')}/_.vsm_mgt, usually varnish`,
        });
      });

      it('accepts only trusted owners if trusted_owners is configured', () => {
        const { child } = folder.instance();
        for (const path of [
          child.path,
          ...readdirSync(child.path).map((name) => join(child.path, name)),
        ])
          chownSync(path, 4321, 0);
        const shown = (trustedOwners: readonly number[]) =>
          values(folder.poller({}, { trustedOwners })).has('MAIN uptime');
        expect([shown([]), shown([4321]), shown([1234])]).to.deep.equal([true, true, false]);
        chownSync(folder.path('shop'), 4321, 0);
        expect(verdict(folder.poller({}, { trustedOwners: [1234] })).reason).to.contain(
          'belongs to user 4321, who is not in trusted_owners',
        );
      });
    }
  });

  describe('with a server key', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('reads the folder with the name of the server key', () => {
      expect(folderOf('shop', folder.path(''), 'host')).to.equal('shop');
    });

    it('takes the key "default" for the folder named after the host, or for "varnishd" if only this folder exists', () => {
      const folderNow = () => folderOf('default', folder.path(''), 'host');
      expect(folderNow()).to.equal('host');
      folder.instance('varnishd');
      expect(folderNow()).to.equal('varnishd');
      expect(verdict(folder.poller({}, {}, 'default')).state).to.equal('live');
      folder.instance('host');
      expect(folderNow()).to.equal('host');
    });
  });

  describe('with invalid or too many segments', () => {
    beforeEach(() => {
      folder.process(PID);
    });

    it('omits only the segments whose schema is unsupported', () => {
      const { child } = folder.instance();
      child.schema(0x77n, VBE.replace('uint64_t', 'double'));
      child.values('VBE.boot.a', 0x77n, [0n, 1n]);
      const poller = folder.poller();
      expect(values(poller).get('MAIN uptime')).to.equal(9n);
      expect(verdict(poller).reason).to.equal(
        '2 segments are shown, 1 left out: VBE.boot.a has a schema that has a value happy that is not an integer',
      );
    });

    it('shows the segments of an incomplete schema once the schema is complete', () => {
      const { child } = folder.instance();
      const schema = child.schema(0x77n, VBE.replace('uint64_t', 'unknown_'));
      child.segment('Stat', 'VBE.boot.a', segmentBytes(1, 0x77n, bodyOf([1n, 2n])));
      const poller = folder.poller();
      expect(values(poller).has('VBE.boot.a req')).to.equal(false);
      poke(schema.path, schema.offset + HEADER_BYTES, Buffer.from(VBE));
      expect(values(poller).get('VBE.boot.a req')).to.equal(2n);
      poke(
        schema.path,
        schema.offset + HEADER_BYTES,
        Buffer.from(VBE.replaceAll('"req"', '"res"')),
      );
      expect(values(poller).get('VBE.boot.a res'), 'under its new name').to.equal(2n);
    });

    it('omits and counts segments whose schema exceeds the limit of 256 schemas', () => {
      const { child } = folder.instance();
      for (let id = 0x1000n; id < 0x1000n + 300n; id++) {
        child.schema(id, VBE);
        child.segment('Stat', `VBE.boot.b${id}`, segmentBytes(1, id, bodyOf([1n, 2n])));
      }
      expect(verdict(folder.poller()).reason).to.match(
        /^257 segments are shown, \d+ left out: VBE\.boot\.b\d+ has more than 256 schemas$/,
      );
    });

    it('omits a segment that is too short for its schema', () => {
      const { child } = folder.instance();
      child.values('MAIN2', IDS.main, [1n]);
      expect(verdict(folder.poller()).reason).to.contain(
        '1 left out: MAIN2 has no room for the values of its schema',
      );
    });

    it('shows a valid segment even after hundreds of refused segments', () => {
      const { child } = folder.instance();
      for (let index = 0; index < 600; index++) child.values(`BAD.b${index}`, IDS.main, [1n]);
      child.values('VBE.boot.a', IDS.vbe, [0n, 5n]);
      const poller = folder.poller();
      expect(values(poller).get('VBE.boot.a req')).to.equal(5n);
      expect(verdict(poller).reason).to.contain(
        '3 segments are shown, 600 left out: BAD.b0 has no room',
      );
    });

    it('shows objects and variables up to segment_max_items', () => {
      const { child } = folder.instance();
      child.schema(0x99n, schemaJson('lck', [{ name: 'locks' }]));
      for (let index = 0; index < 20; index++) child.values(`LCK.l${index}`, 0x99n, [1n]);
      const poller = folder.poller({}, { segmentMaxItems: 20 });
      expect(values(poller).size).to.be.within(8, 20);
      expect(verdict(poller).reason).to.contain('would exceed segment_max_items');
    });

    it('reports the state corrupt, with a reason, if the index is not in the format of Varnish', () => {
      const { manager } = folder.instance();
      manager.append('what is this\n');
      expect(verdict(folder.poller())).to.deep.equal({
        state: 'corrupt',
        reason: `${folder.path('shop')}: line 4 of the index is not in Varnish's format`,
      });
    });
  });
});
