// Compares the tree of a real varnishd with the output of varnishstat.
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { VarnishPoller } from '#app/varnish/varnish-poller.js';
import { valuesOf, pollAll } from '../support/polled-values.js';
import { waitFor } from '../support/processes.js';
import { varnishServer } from './varnish-server.js';
import { needs, needsPrograms } from '../support/needs.js';

type Values = ReadonlyMap<string, bigint>;

/** Returns the entries that `values` has and `others` lacks, each as a line with name and value. */
const linesMissingFrom = (others: Values, values: Values): readonly string[] =>
  [...values].filter(([name, value]) => others.get(name) !== value).map((line) => line.join(' '));

describe('A real Varnish', function () {
  this.timeout(180_000);
  this.slow(20_000);
  const server = varnishServer();
  let made: VarnishPoller | undefined;
  const poller = (): VarnishPoller =>
    (made ??= new VarnishPoller('shop', { directory: server.directory, names: 'clean' }, {}));
  before(async function () {
    needsPrograms(this, 'varnishd', 'varnishstat');
    await server.start();
  });
  after(() => made?.close());

  /** Returns the values of all segments in the tree, by the names that Varnish gives them. */
  function shown(): Map<string, bigint> {
    const found = new Map<string, bigint>();
    for (const [key, value] of valuesOf(pollAll(poller()))) {
      const [ident = '', field = ''] = key.split(' ');
      const isOwn = field === 'up' || field === 'started';
      if (!isOwn && typeof value === 'bigint')
        found.set(`${ident}.${field}`, BigInt.asUintN(64, value));
    }
    return found;
  }

  /** Compares all values while the Varnish processes are stopped. */
  async function expectSame(): Promise<void> {
    const [varnishstat, own] = await server.still(() => [server.varnishstat(), shown()]);
    expect(varnishstat.size).to.be.greaterThan(300);
    expect({
      onlyExporter: linesMissingFrom(varnishstat, own),
      onlyVarnishstat: linesMissingFrom(own, varnishstat),
    }).to.deep.equal({ onlyExporter: [], onlyVarnishstat: [] });
  }

  const has = (...idents: readonly string[]): Promise<true> =>
    waitFor(`has ${idents.join(', ')}`, () =>
      idents.every((ident) => shown().has(`${ident}.req`)) ? true : undefined,
    );

  const lacks = (ident: string): Promise<true> =>
    waitFor(`lacks ${ident}`, () => !shown().has(`${ident}.req`) || undefined);

  it('has every value that varnishstat prints', async () => {
    for (const path of ['/', '/', '/good', '/bad']) await server.request(path);
    await expectSame();
  });

  it('has every value after VCL programs are loaded, cooled and discarded', async () => {
    const first = server.reload();
    await has(`VBE.${first}.good`);
    await expectSame();
    const second = server.reload();
    server.admin('vcl.state', first, 'cold');
    await lacks(`VBE.${first}.good`);
    await expectSame();
    server.admin('vcl.state', first, 'warm');
    await has(`VBE.${first}.good`, `VBE.${second}.good`);
    await expectSame();
    server.admin('vcl.discard', first);
    await lacks(`VBE.${first}.good`);
    await expectSame();
  });

  it('has every value under the correct name after several VCL programs are loaded and discarded', async () => {
    let last = server.reload();
    for (let index = 0; index < 4; index++) {
      const next = server.reload();
      server.admin('vcl.discard', last);
      last = next;
      shown();
    }
    await has(`VBE.${last}.good`);
    await expectSame();
  });

  it('has the values of the new child after a child is killed and restarted', async () => {
    const { source } = pollAll(poller());
    const program = server.reload();
    const died = shown().get('MGT.child_died') ?? 0n;
    const before = server.childPid ?? 0;
    process.kill(before, 'SIGKILL');
    await waitFor('another child runs', () => {
      const pid = server.childPid;
      return pid !== undefined && pid !== before ? pid : undefined;
    });
    await has(`VBE.${program}.good`);
    await expectSame();
    expect(shown().get('MGT.child_died')).to.equal(died + 1n);
    expect(pollAll(poller()).source).to.equal(source);
  });

  it('is dead when both processes are killed, and has a new source after a restart', async () => {
    const before = pollAll(poller()).source?.generation;
    await server.kill();
    const { publisher, source } = pollAll(poller());
    expect(publisher.state).to.equal('dead');
    expect(source).to.equal(undefined);
    await server.start();
    await has('VBE.boot.good');
    expect(pollAll(poller()).source?.generation).to.be.a('string').and.not.equal(before);
    await expectSame();
  });

  it('is live in another PID namespace because of its heartbeat, and dead when the heartbeat stops', async function () {
    needs(
      this,
      spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0,
      'this process may not make namespaces',
    );
    await server.kill();
    await server.start(['unshare', '--pid', '--fork']);
    await has('VBE.boot.good');
    expect(pollAll(poller()).publisher.state).to.equal('live');
    await server.kill();
    const { publisher } = await waitFor('it is dead', () => {
      const seen = pollAll(poller());
      return seen.publisher.state === 'dead' ? seen : undefined;
    });
    expect(publisher.reason).to.contain('its uptime does not increase');
  });
});
