// Tests HTTP service discovery: a Prometheus that reads `/-/targets` reaches every target, ready or not.
import { expect } from 'chai';
import { compileScope } from '#app/exposition/page/scope.js';
import { eventually } from '../../support/eventually.js';
import { FakeTarget } from '../../support/fake-target.js';
import { LiveTargets } from '../../support/live-targets.js';
import { Publishers } from '../../support/publishers.js';
import { ServingHttp, freshServing } from '../../support/serving-http.js';

interface Group {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the URLs that Prometheus builds from its targets, and the labels that it keeps. */
function scrapesOf(json: string): { readonly url: string; readonly labels: Group['labels'] }[] {
  const groups = JSON.parse(json) as readonly Group[];
  return groups.flatMap(({ targets, labels }) => {
    const all = Object.entries(labels);
    const query = new URLSearchParams();
    for (const [name, value] of all)
      if (name.startsWith('__param_')) query.set(name.slice('__param_'.length), value);
    // Prometheus drops labels that are empty and, after relabeling, labels that begin with two underscores.
    const kept = all.filter(([name, value]) => !name.startsWith('__') && value !== '');
    return targets.map((address) => ({
      url: `http://${address}${labels['__metrics_path__'] ?? '/metrics'}?${query.toString()}`,
      labels: Object.fromEntries(kept),
    }));
  });
}

describe('service discovery at /-/targets', () => {
  let serving: ServingHttp | undefined;
  let live: LiveTargets | undefined;
  const publishers = new Publishers();
  afterEach(() => {
    serving?.end();
    live?.end();
    live = undefined;
    publishers.closeAll();
  });
  const serve = (...args: ConstructorParameters<typeof ServingHttp>) => {
    serving = new ServingHttp(...args);
    return serving.opened();
  };

  it('lists the page of each target, even if targets share server key and application', async () => {
    const shared = publishers.make('7');
    for (const root of ['H.1.ads', 'H.2.ads', 'H.1.adh'])
      shared.addVariable(shared.addRoot(root, 'Root'), 'load', 'u64').set(1);
    shared.place();
    publishers.withRoot('82', 'H.1.ads');
    live = new LiveTargets(publishers, [
      { app: 'ads', serverKeys: ['82'] },
      { app: 'adh', serverKeys: ['7'] },
      { app: 'ads', serverKeys: ['7'], instance: 'H.2.ads' },
      { app: 'ads', serverKeys: ['7'], instance: '1' },
      { app: 'ads', serverKeys: ['7'], instance: 'H.3.ads' },
      { app: 'ads', serverKeys: ['7'], instance: '4' },
      { app: 'ats', serverKeys: ['b & "c"/?'] },
    ]);
    const { targets } = live;
    const http = await serve(targets, { path: '/m' });
    await eventually('the first four are ready', () =>
      targets.slice(0, 4).every((target) => target.status().isReady),
    );
    const { status, headers, text } = await http.ask('/-/targets');
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    const scrapes = scrapesOf(text);
    const answers = await Promise.all(
      scrapes.map(({ url }) => http.ask(url.replace(http.origin, ''))),
    );
    expect(answers.map((answer) => answer.status)).to.deep.equal([
      200, 200, 200, 200, 503, 503, 503,
    ]);
    const infos = answers.map((answer) => /target_info\{(.*),partition/.exec(answer.text)?.[1]);
    expect(infos.slice(0, 4)).to.deep.equal([
      'app="ads",server_key="82",root="H.1.ads"',
      'app="adh",server_key="7",root="H.1.adh"',
      'app="ads",server_key="7",root="H.2.ads"',
      'app="ads",server_key="7",root="H.1.ads"',
    ]);
    const waiting = ['H.3.ads', '4'].map((hint) => `application ads that fits instance ${hint};`);
    for (const [index, reason] of [...waiting, 'application ats;'].entries())
      expect(answers[index + 4]?.text).to.contain(reason);
    expect(scrapes.map(({ labels }) => labels)).to.deep.equal([
      { app: 'ads', server_key: '82', root: 'H.1.ads' },
      { app: 'adh', server_key: '7', root: 'H.1.adh' },
      { app: 'ads', server_key: '7', hint: 'H.2.ads', root: 'H.2.ads' },
      { app: 'ads', server_key: '7', hint: '1', root: 'H.1.ads' },
      { app: 'ads', server_key: '7', hint: 'H.3.ads' },
      { app: 'ads', server_key: '7', hint: '4' },
      { app: 'ats', server_key: 'b & "c"/?' },
    ]);
  });

  it('keeps the labels and address of a target, even without a publisher and after its root moves to another server key', async () => {
    live = new LiveTargets(publishers, [{ app: 'ads', serverKeys: ['82', '456', '999'] }]);
    const [target] = live.targets;
    const http = await serve(live.targets);
    const found = async () => scrapesOf((await http.ask('/-/targets')).text);
    const url = `${http.origin}/metrics?`;
    expect(await found()).to.deep.equal([{ url, labels: { app: 'ads', server_key: '82' } }]);
    const publisher = publishers.withRoot('456', 'H.1.ads');
    await eventually('it is ready', () => target?.status().isReady === true);
    const labels = { app: 'ads', server_key: '456', root: 'H.1.ads' };
    expect(await found()).to.deep.equal([{ url, labels }]);
    publisher.close();
    await eventually('it is lost', () => target?.status().isReady === false);
    expect(await found()).to.deep.equal([{ url, labels }]);
    publishers.withRoot('999', 'H.2.ads');
    await eventually('it is ready again', () => target?.status().isReady === true);
    expect(await found()).to.deep.equal([
      { url, labels: { app: 'ads', server_key: '999', root: 'H.2.ads' } },
    ]);
  });

  it('has distinct labels for targets with the same configuration', async () => {
    const http = await serve([new FakeTarget(), new FakeTarget(), new FakeTarget()]);
    const labels = scrapesOf((await http.ask('/-/targets')).text).map((each) => each.labels);
    const own = { app: 'ads', server_key: '82', root: 'H.1.ads' };
    expect(labels).to.deep.equal([own, { ...own, twin: '2' }, { ...own, twin: '3' }]);
  });

  it('is an empty list if there are no targets', async () => {
    expect((await (await serve([])).ask('/-/targets')).text).to.equal('[]\n');
  });

  const hosts = [
    ['with a domain name and a port', 'exporter.example.com:9464', true],
    ['with a name', 'shm_exporter', true],
    ['with an IPv4 address and a port', '10.0.0.1:80', true],
    ['with an IPv6 address and a port', '[fe80::1]:9464', true],
    ['that is empty', '', false],
    ['with a slash', 'a/b:1', false],
    ['with a user name', 'user@a:1', false],
    ['with two ports', 'a:1:2', false],
    ['with a port of six digits', 'a:123456', false],
    ['with JSON', 'a"],"labels":{"x":"y', false],
    ['with a blank', 'a b', false],
    ['with a query', 'a?x=1', false],
    ['that begins with a dot', '.a', false],
    ['of 300 characters', 'a'.repeat(300), false],
    ['with a letter outside ASCII', 'caf\xe9', false],
  ] as const;
  for (const [what, host, isValid] of hosts)
    it(`uses the address ${isValid ? 'in' : 'of the listener, not the one in'} a Host header ${what}`, async () => {
      const http = await serve([new FakeTarget()]);
      const { text } = http.send(`GET /-/targets HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await eventually('an answer', () => text().includes(']\n'));
      const [group] = JSON.parse(text().split('\r\n\r\n')[1] ?? '') as readonly Group[];
      const listener = http.origin.replace('http://', '');
      expect(group?.targets).to.deep.equal([isValid ? host : listener]);
    });

  it('uses the address of the listener for an HTTP 1.0 client, which sends no Host header', async () => {
    const http = await serve([new FakeTarget()]);
    const { text } = http.send('GET /-/targets HTTP/1.0\r\n\r\n');
    await eventually('an answer', () => text().includes(']\n'));
    expect(text()).to.contain(`"targets":["${http.origin.replace('http://', '')}"]`);
  });
});

describe('the status page at /', () => {
  const serve = freshServing();

  it('links the page and scopes of each target that routing parameters can distinguish from all others', async () => {
    const targets = [
      new FakeTarget('ads', ['82'], 'H.1.ads'),
      new FakeTarget('ads', ['7'], 'H.1.ads'),
      new FakeTarget('adh', ['7'], 'H.1.adh'),
      new FakeTarget('ats', ['5'], 'H.1.ats'),
      new FakeTarget('ats', ['5'], 'H.2.ats'),
      new FakeTarget('demo', ['3'], 'H.1.demo'),
      new FakeTarget('demo', ['3'], 'H.1.demo'),
    ];
    const names = ['a.b_c-d', 'demo'];
    const scopes = names.map((name) => compileScope({ name, metrics: ['*'] }));
    const http = await serve(targets, {
      scopeNames: () => names,
      scope: (wanted) => scopes.find(({ name }) => name === wanted),
    });
    const { text: html } = await http.ask('/');
    const links = [...html.matchAll(/href="\.(\/metrics[^"]*)"/g)].map(([, href = '']) =>
      href.replaceAll('&#38;', '&'),
    );
    const infos = await Promise.all(
      links.map(async (href) => {
        const { text } = await http.ask(href);
        return /target_info\{(.*),partition/.exec(text)?.[1];
      }),
    );
    const wanted = targets
      .slice(0, 5)
      .map(
        ({ app, serverKeys, root }) =>
          `app="${app}",server_key="${serverKeys.join()}",root="${root}"`,
      );
    expect(infos).to.deep.equal(wanted.flatMap((info) => [info, info, info]));
    expect(html.match(/No parameters select only this target/g), 'twins').to.have.lengthOf(2);
  });
});
