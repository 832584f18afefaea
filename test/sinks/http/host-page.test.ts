// Tests the host page over HTTP: all targets on one page, whatever the state of each.
import { expect } from 'chai';
import { NEVER, of } from 'rxjs';
import type { Scope } from '#app/model.js';
import { hostPage } from '#app/sinks/http/host-page.js';
import { FakeTarget } from '../../support/fake-target.js';
import { eventually } from '../../support/eventually.js';
import { follow } from '../../support/follow.js';
import { waitFor } from '../../support/processes.js';
import { freshServing } from '../../support/serving-http.js';
import { piecesOf, snapshotOf } from '../../support/snapshot-of.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const WAITING = {
  objects: { synced: 0, total: 1 },
  variables: { synced: 0, total: 0 },
  reason: 'object x',
};

/** A ready target with one series. */
function readyTarget(app: string, serverKey: string): FakeTarget {
  const target = new FakeTarget(app, [serverKey], `h.1.${app}`);
  target.labels = { app, server_key: serverKey, root: target.root };
  target.text = `demo_value{app="${app}",server_key="${serverKey}",root="${target.root}"} 1\n`;
  return target;
}

describe('the host page', () => {
  const serve = freshServing();
  const scope: Scope = { name: 'none', selects: ({ name }) => name === 'other' };
  const serving = (targets: readonly FakeTarget[], isEnabled = true) => {
    const leftOut: string[][] = [];
    const onLeftOut = (sentences: readonly string[]) => void leftOut.push([...sentences]);
    const http = serve(targets, {
      hostPage: { isEnabled: () => isEnabled, onLeftOut },
      scope: (name) => (name === scope.name ? scope : undefined),
    });
    return { http, leftOut };
  };
  const HEAD = '# HELP demo_value A value.\n# TYPE demo_value gauge\n';
  const INFO =
    '# HELP shm_target_info The last root of the target and its format; always 1.\n' +
    '# TYPE shm_target_info gauge\n';
  const UP =
    '# HELP shm_target_up 1 if this page has the metrics of the target, 0 if the target is not ready or did not answer in time.\n' +
    '# TYPE shm_target_up gauge\n';

  it('is not where the links and the scrapes of a single target with several server keys lead', async () => {
    const target = new FakeTarget('a', ['1', '2'], 'h.1.a');
    for (const [isEnabled, query, parameters] of [
      [false, '', []],
      [true, '?server_key=1', ['1']],
    ] as const) {
      const { http } = serving([target], isEnabled);
      const get = async (path: string) => (await (await http).ask(path)).text;
      expect(await get('/')).to.contain(`href="./metrics${query}"`);
      target.answer = {
        ...{ kind: 'part', root: 'h.1.a', above: [], rows: [], next: undefined, isLate: false },
        tracked: { objects: 0, variables: 0 },
      };
      expect(await get('/tree')).to.contain(`href="./metrics${query}"`);
      const groups = JSON.parse(await get('/-/targets')) as { labels: Record<string, string> }[];
      const keys = groups.flatMap(({ labels }) => labels['__param_server_key'] ?? []);
      expect(keys).to.deep.equal(parameters);
    }
  });

  it('has the metrics of all ready targets, and shows each other target as down', async () => {
    const lost = readyTarget('b', '2').wait(WAITING);
    const { http } = serving([readyTarget('a', '1'), lost, readyTarget('c', '3')]);
    const { status, text } = await (await http).ask('/-/all');
    expect(status).to.equal(200);
    expect(text).to.equal(
      `${HEAD}demo_value{app="a",server_key="1",root="h.1.a"} 1\n` +
        'demo_value{app="c",server_key="3",root="h.1.c"} 1\n' +
        `${UP}shm_target_up{app="a",server_key="1"} 1\n` +
        'shm_target_up{app="b",server_key="2"} 0\nshm_target_up{app="c",server_key="3"} 1\n' +
        `${INFO}shm_target_info{app="a",server_key="1",root="h.1.a",format="native"} 1\n` +
        'shm_target_info{app="b",server_key="2",root="h.1.b",format="native"} 1\n' +
        'shm_target_info{app="c",server_key="3",root="h.1.c",format="native"} 1\n',
    );
  });

  it('shows a target as down whose lines do not have its labels yet', async () => {
    const target = readyTarget('b', '2');
    target.labels = undefined;
    const { http } = serving([readyTarget('a', '1'), target]);
    const { text } = await (await http).ask('/-/all');
    expect(text).to.contain(`demo_value{app="a",server_key="1",root="h.1.a"} 1\n${UP}`);
    expect(text).to.contain('shm_target_up{app="b",server_key="2"} 0\n');
  });

  it('is at the base path for requests without routing parameters', async () => {
    const { http } = serving([readyTarget('a', '1'), readyTarget('b', '2')]);
    const all = await (await http).ask('/-/all');
    expect((await (await http).ask('/metrics')).text).to.equal(all.text);
    const one = await (await http).ask('/metrics?server_key=1');
    expect(one.text).to.contain('app="a"').and.not.contain('app="b"');
  });

  it('selects targets by app and server key', async () => {
    const targets = [readyTarget('a', '1'), readyTarget('a', '2'), readyTarget('b', '3')];
    const { http } = serving(targets);
    const keys = async (query: string) => {
      const { text } = await (await http).ask(`/-/all${query}`);
      return [...text.matchAll(/^shm_target_up{.*server_key="(\d)"/gm)].map(([, key]) => key);
    };
    expect(await keys('')).to.deep.equal(['1', '2', '3']);
    expect(await keys('?app=a')).to.deep.equal(['1', '2']);
    expect(await keys('?server_key=1&server_key=3')).to.deep.equal(['1', '3']);
    expect(await keys('?app=a&server_key=2&server_key=3')).to.deep.equal(['2']);
    expect(await keys('?app=none')).to.deep.equal([]);
  });

  it('selects metrics by a scope, and keeps the state of the targets', async () => {
    const { http } = serving([readyTarget('a', '1')]);
    const { text } = await (await http).ask('/-/all?scope=none');
    expect(text).to.match(/^# HELP shm_target_up /);
    expect((await (await http).ask('/metrics/none')).text).to.equal(text);
    expect((await (await http).ask('/-/all?scope=no')).status).to.equal(404);
    expect((await (await http).ask('/metrics/none?scope=other')).status).to.equal(400);
  });

  it('reports the metrics that it leaves out', async () => {
    const other = readyTarget('b', '2');
    other.metadata = { ...other.metadata, type: 'counter' };
    const { http, leftOut } = serving([readyTarget('a', '1'), other]);
    await (await http).ask('/-/all');
    expect(leftOut).to.deep.equal([
      [
        'demo_value{app="b",server_key="2",root="h.1.b"} is left out: the same metric already has the type gauge',
      ],
    ]);
  });

  it('is empty but for no target', async () => {
    const { http } = serving([]);
    expect((await (await http).ask('/metrics')).status).to.equal(200);
  });

  it('answers 404 unless it is enabled, and 405 to other methods', async () => {
    const off = await serving([readyTarget('a', '1'), readyTarget('b', '2')], false).http;
    expect((await off.ask('/-/all')).status).to.equal(404);
    expect((await off.ask('/metrics')).status).to.equal(400);
    const on = await serving([readyTarget('a', '1')]).http;
    expect((await on.ask('/-/all', { method: 'POST' })).status).to.equal(405);
    expect((await on.ask('/-/all', { method: 'OPTIONS' })).status).to.equal(200);
  });

  it('shows a target as down that does not answer in time, and holds no snapshot afterwards', async () => {
    const clock = new VirtualClock();
    const [good, hung] = [readyTarget('a', '1'), readyTarget('b', '2')];
    hung.demand = () => NEVER;
    const request = { apps: [], serverKeys: [], scope: undefined, form: 'text' } as const;
    const options = { isEnabled: () => true, onLeftOut: () => undefined, scheduler: clock };
    const { seen } = follow(hostPage([good, hung], request, options));
    expect([seen.length, good.held]).to.deep.equal([0, 1]);
    clock.advance(5000);
    // The join takes slices of real time.
    await waitFor('the page', () => seen[0]);
    expect(seen).to.have.lengthOf(1);
    expect(seen[0]?.content.internal[0]?.text).to.match(/ 1\n.* 0\n$/);
    seen[0]?.release();
    expect(good.held).to.equal(0);
  });

  it('waits for half of the timeout that the client states, at most', async () => {
    const hung = readyTarget('b', '2');
    hung.demand = () => NEVER;
    const http = await serving([readyTarget('a', '1'), hung]).http;
    const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': '0.1' };
    const { text } = await http.ask('/-/all', { headers });
    expect(text).to.contain('shm_target_up{app="b",server_key="2"} 0');
  });

  it('joins many families in slices, and releases the snapshots if the client leaves meanwhile', async () => {
    const families = Array.from({ length: 100_000 }, (_, index) => `f${index}`);
    const target = readyTarget('a', '1');
    const answer = target.demandAnswer();
    if (answer.kind !== 'ready') throw new Error('The target is not ready');
    const metadata = families.map((name) => ({ ...target.metadata, name }));
    const pieces = metadata.flatMap((family) => piecesOf(family, [`${family.name} 1\n`]));
    const hold = () => answer.snapshot.hold();
    const snapshot = { ...snapshotOf(pieces, { hold }), metadata };
    target.demand = () => of({ ...answer, snapshot });
    const request = { apps: [], serverKeys: [], scope: undefined, form: 'text' } as const;
    const options = { isEnabled: () => true, onLeftOut: () => undefined };
    const left = follow(hostPage([target], request, options));
    expect([left.seen.length, target.held]).to.deep.equal([0, 1]);
    left.subscription.unsubscribe();
    expect(target.held).to.equal(0);
    const { seen } = follow(hostPage([target], request, options));
    await eventually('the page', () => seen.length === 1);
    expect(seen[0]?.content.snapshot.lines('text')).to.have.lengthOf(families.length);
    seen[0]?.release();
    expect(target.held).to.equal(0);
  });

  it('releases the snapshots if the client leaves first', () => {
    const [good, hung] = [readyTarget('a', '1'), readyTarget('b', '2')];
    hung.demand = () => NEVER;
    const request = { apps: [], serverKeys: [], scope: undefined, form: 'text' } as const;
    const options = {
      isEnabled: () => true,
      onLeftOut: () => undefined,
      scheduler: new VirtualClock(),
    };
    const { subscription } = follow(hostPage([good, hung], request, options));
    expect(good.held).to.equal(1);
    subscription.unsubscribe();
    expect(good.held).to.equal(0);
  });
});
