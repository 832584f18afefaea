import { expect } from 'chai';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { BRIDGED, BRIDGE_APP, JVMS, SCOPES, SHOP, TARGETS } from '#app/demo/configuration.js';
import { freePort } from '../support/free-port.js';
import { PYTHON_0_21, needsLibraries } from '../support/metric-libraries.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { samplesOf, scrape } from './page.js';

/** Returns the PIDs of processes whose command line contains a text. */
const processesWith = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);

const contextOf = (demo: Running): Promise<string> =>
  waitFor(
    'the demo says something',
    () => /files are in \S*\/(\S+)$/m.exec(demo.stdout + demo.stderr)?.[1],
  );

/** Returns everything that a demo has on this machine: segments, temporary files and processes. */
const tracesOf = (context: string): readonly unknown[] => [
  ...readdirSync('/dev/shm').filter((name) => name.includes(context)),
  ...readdirSync(tmpdir()).filter((name) => name.includes(context)),
  ...processesWith(context),
];

/** Messages that the demo's programs log only because a machine is busy: slow polls and slow targets. */
const BUSY =
  /warning \S+: no tree \(timeout\)|longer than the interval| target \S+ on \S+ (has not|goes on)/;

/** Returns the lines that a demo wrote to stderr after an offset. */
const linesOf = ({ stderr }: Running, from = 0): readonly string[] =>
  stderr
    .slice(from)
    .split('\n')
    .filter((line) => line !== '' && !BUSY.test(line));

interface Address {
  readonly url: string;
  readonly accept: string | undefined;
}

/** Returns the addresses in the output of the demo. */
const addressesIn = (text: string): readonly Address[] =>
  [...text.matchAll(/^ {2}(.*?)'?(http:\/\/[^\s']+)'?$/gm)].map(([, before = '', url = '']) => ({
    url,
    accept: /-H 'Accept: ([^']+)'/.exec(before)?.[1],
  }));

describe('npm run demo', function () {
  this.slow(8000);
  const programs = testPrograms();

  /** Starts a demo and waits until it has printed what to try. */
  async function ready(
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ demo: Running; port: number; context: string }> {
    const port = await freePort();
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const demo = programs.start('demo', ['--port', String(port)], {
      under: variables.length === 0 ? [] : ['env', ...variables],
    });
    const context = await contextOf(demo);
    await waitFor('it invites', () => (demo.stdout.includes('Ctrl-C') ? true : undefined));
    return { demo, port, context };
  }

  it('sends requests to real workers if Gunicorn is installed, and ends them', async function () {
    needsLibraries(this, PYTHON_0_21);
    const { demo, port, context } = await ready(PYTHON_0_21.env);
    const url = `http://127.0.0.1:${port}/metrics?server_key=${SHOP.serverKey}`;
    const countOf = async (): Promise<number> => {
      const samples = samplesOf((await scrape(url)).body);
      const own = samples.filter(({ name }) => name === 'shop_requests_total');
      return own.reduce((sum, { value }) => sum + Number(value), 0);
    };
    const before = await countOf();
    await waitFor('the number of requests rises', async () =>
      (await countOf()) > before ? true : undefined,
    );
    expect(processesWith(context).length).to.be.greaterThan(8);
    await demo.stop('SIGINT');
    await waitFor('all processes have ended', () =>
      tracesOf(context).length === 0 ? true : undefined,
    );
  });

  describe('while it runs', () => {
    let demo: Running;
    let base: string;
    let context: string;
    let port: number;
    before(async function () {
      ({ demo, context, port } = await ready());
      base = `http://127.0.0.1:${port}`;
    });

    it('answers 200 at every address that it prints', async () => {
      const addresses = addressesIn(demo.stdout);
      expect(addresses.filter(({ accept }) => accept !== undefined)).to.have.lengthOf(1);
      const paths = addresses.map(({ url }) => url.slice(base.length));
      expect(paths).to.include.members(['/', '/-/metrics', '/-/ready', '/metrics?server_key=82']);
      expect(paths.join(' ')).to.match(/\?app=\w+&instance=/);
      for (const { url, accept } of addresses) {
        const { status, headers } = await fetch(url, { headers: accept ? { accept } : {} });
        expect(status, url).to.equal(200);
        if (accept) expect(headers.get('content-type'), url).to.contain(accept);
      }
    });

    it('answers 200 at every link of its status page, even at links to scopes', async () => {
      // Scrape every target first: only then does the exporter know which scopes match its metrics.
      for (const { serverKey, app } of [...TARGETS, BRIDGED])
        await scrape(`${base}/metrics?server_key=${serverKey}&app=${app}`);
      const { body } = await scrape(`${base}/`);
      const links = [...body.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) =>
        href.replaceAll('&#38;', '&'),
      );
      expect(links.filter((link) => link.startsWith('./metrics/clients'))).to.have.lengthOf(4);
      expect(links.filter((link) => link.startsWith('./tree'))).to.have.lengthOf(7);
      for (const link of links)
        expect((await fetch(new URL(link, `${base}/`))).status, link).to.equal(200);
    });

    for (const { app, serverKey } of TARGETS) {
      it(`serves all metrics of ${app}, with changing values`, async () => {
        const values = async () => {
          const { body } = await scrape(`${base}/metrics?server_key=${serverKey}`);
          const own = samplesOf(body).filter(({ name }) => name.startsWith(`${app}_`));
          return { body, own };
        };
        const first = await values();
        const families = [...(loadCatalogues().get(app)?.families.keys() ?? [])];
        expect(families).to.have.lengthOf.above(50);
        for (const family of families) expect(first.body).to.contain(`# TYPE ${family} `);
        const texts = new Set(first.own.map((sample) => JSON.stringify(sample)));
        await waitFor('a third of the series moves', async () => {
          const moved = (await values()).own.filter((each) => !texts.has(JSON.stringify(each)));
          return moved.length > texts.size / 3 ? true : undefined;
        });
      });

      for (const [scope, patterns] of Object.entries(SCOPES))
        it(`serves a page of ${app} for the scope ${scope}`, async () => {
          const { status, body } = await scrape(`${base}/metrics/${scope}?server_key=${serverKey}`);
          expect(status).to.equal(200);
          const hasOwn = samplesOf(body).some(({ name }) => name.startsWith(`${app}_`));
          expect(hasOwn).to.equal(patterns.some((pattern) => !pattern.startsWith('shm_')));
        });
    }

    it('serves the metrics of a bridged ads component, and of the bridge', async () => {
      const { serverKey, app } = BRIDGED;
      const { body } = await scrape(`${base}/metrics?server_key=${serverKey}&app=${app}`);
      for (const family of loadCatalogues().get(app)?.families.keys() ?? [])
        expect(body).to.contain(`# TYPE ${family} `);
      const { body: own } = await scrape(
        `${base}/metrics?server_key=${serverKey}&app=${BRIDGE_APP}`,
      );
      expect(own).to.match(/^shm_bridge_component_up\{object="@root"\} 1$/m);
    });

    it('serves the JVMs of the host, and a recorded JVM', async () => {
      const { body } = await scrape(`${base}/metrics?server_key=${JVMS.serverKey}`);
      const labels = `pid="${demo.pid}",main_class="shop\\.Till"`;
      const pattern = new RegExp(`^jvm_start_time_seconds\\{${labels}\\} (.+)$`, 'm');
      const [, began] = pattern.exec(body) ?? [];
      expect(Number(began), body).to.be.closeTo(Date.now() / 1000, 120);
      expect(body).to.match(/^jvm_processes [1-9]/m);
    });

    it('serves the workers of a shop', async () => {
      const { body } = await scrape(`${base}/metrics?server_key=${SHOP.serverKey}`);
      expect(body).to.match(/^shop_requests_total\{.*\} [1-9]/m);
      expect(body).to.match(/^multiprocess_files [1-9]/m);
    });

    it('serves a highlighted variable', async () => {
      const { body } = await scrape(`${base}/metrics/exporter?server_key=${TARGETS[0].serverKey}`);
      expect(body).to.contain(`highlighted_value{path="${TARGETS[0].variable}"} `);
    });

    it('prints nothing to stderr', () => expect(linesOf(demo)).to.deep.equal([]));

    it('makes a second demo on the same port report how to choose another port', async () => {
      const from = demo.stderr.length;
      const second = programs.start('demo', ['--port', String(port)]);
      const context = await contextOf(second);
      expect(await second.ended).to.deep.equal({ status: 4, signal: null });
      expect(second.stderr).to.match(/Cannot listen on 127\.0\.0\.1:\d+: .*\ndemo: .* --port N\n$/);
      expect(tracesOf(context)).to.deep.equal([]);
      expect(linesOf(demo, from)).to.deep.equal([]);
    });

    it('prints nothing when the exporter of another demo is killed and that demo ends with status 1', async () => {
      const from = demo.stderr.length;
      const another = programs.start('demo', ['--port', String(await freePort())]);
      const itsContext = await contextOf(another);
      const victim = await waitFor('its exporter runs', () =>
        processesWith(itsContext).find((pid) =>
          processesWith('dist/bin/shm_exporter.js').includes(pid),
        ),
      );
      process.kill(victim, 'SIGKILL');
      expect(await another.ended).to.deep.equal({ status: 1, signal: null });
      expect(linesOf(another)).to.deep.equal(['demo: the exporter ended by SIGKILL']);
      expect(tracesOf(itsContext)).to.deep.equal([]);
      expect(linesOf(demo, from)).to.deep.equal([]);
    });

    it("prints the exporter's messages about a killed simulated server, and restarts the server", async () => {
      const [victim = 0] = processesWith(context).filter((pid) =>
        processesWith('--app\0adh').includes(pid),
      );
      const from = demo.stderr.length;
      process.kill(victim, 'SIGKILL');
      const back = 'the exporter: target adh on 456 is ready again';
      await waitFor('it is back', () => (linesOf(demo, from).includes(back) ? true : undefined));
      expect(linesOf(demo, from).toSorted()).to.deep.equal(
        [
          'demo: the simulated adh ended by SIGKILL; it starts again in 5 seconds',
          'the exporter: target adh on 456 is not ready: waiting on a root of application adh; server key 456: publisher died without closing',
          'the exporter: target adh on 456 is ready again',
        ].sort(),
      );
    });

    it('leaves nothing behind after Ctrl-C', async () => {
      expect(processesWith(context)).to.have.lengthOf(6);
      expect(await demo.stop('SIGINT')).to.deep.equal({ status: 0, signal: null });
      expect(tracesOf(context)).to.deep.equal([]);
    });
  });

  it('ends when npm, which started it, is killed', async () => {
    const port = String(await freePort());
    const npm = programs.command(['npm', 'run', 'demo', '--', '--port', port]);
    const context = await contextOf(npm);
    process.kill(npm.pid, 'SIGKILL');
    try {
      const isGone = () => (tracesOf(context).length === 0 ? true : undefined);
      await waitFor('all of it is gone', isGone);
    } finally {
      for (const pid of processesWith(context)) process.kill(pid, 'SIGKILL');
    }
    await npm.ended;
  });

  it('leaves no process and no shared memory when it is killed', async () => {
    const { demo, context } = await ready();
    process.kill(demo.pid, 'SIGKILL');
    expect(await demo.ended).to.deep.equal({ status: null, signal: 'SIGKILL' });
    rmSync(join(tmpdir(), context), { recursive: true });
    await waitFor('it is gone', () => (tracesOf(context).length === 0 ? true : undefined));
  });

  it('ends when the reader of its stdout goes away', async () => {
    const port = await freePort();
    const file = programs.path('read');
    const shell = programs.command([
      ...['sh', '-c', '"$@" | sed "/files are in/q" >"$0"; true', file],
      ...[process.execPath, 'dist/demo/cli.js', '--port', String(port)],
    ]);
    expect(await shell.ended).to.deep.equal({ status: 0, signal: null });
    const [, context = ''] = /in \S*\/(\S+)/.exec(readFileSync(file, 'utf8')) ?? [];
    expect(context).to.match(/^shm-demo-/);
    await waitFor('it is gone', () => (tracesOf(context).length === 0 ? true : undefined));
  });

  it('ends on SIGTERM before anything is ready', async () => {
    const demo = programs.start('demo', ['--port', String(await freePort())]);
    const context = await contextOf(demo);
    expect(await demo.stop('SIGTERM')).to.deep.equal({ status: 0, signal: null });
    expect(tracesOf(context)).to.deep.equal([]);
  });

  it('prints only documents with --stdout, one for each target', async () => {
    const demo = programs.start('demo', ['--stdout']);
    const context = await contextOf(demo);
    // Wait, because at the first ticks some targets are not ready yet.
    const all = [...TARGETS, BRIDGED].map(({ root }) => root).join(' ');
    await waitFor('a document each, in their order', () => {
      const heads = [...demo.stdout.matchAll(/^# snapshot .*root=(\S*) time=\S+/gm)];
      const roots = heads.map(([, root]) => root).join(' ');
      return roots.includes(all) ? true : undefined;
    });
    expect(demo.stdout).to.match(/^# snapshot /);
    expect(await demo.stop('SIGINT')).to.deep.equal({ status: 0, signal: null });
    expect(tracesOf(context)).to.deep.equal([]);
  });

  for (const [args, reason] of [
    [['--port', '0'], '--port: found 0, allowed: an integer from 1 to 65535'],
    [['--port', '65536'], '--port: found 65536, allowed: an integer from 1 to 65535'],
    [['--wrong'], 'unknown option "--wrong"; see --help'],
  ] as const)
    it(`rejects ${args.join(' ')}`, () => {
      const { status, stderr } = programs.run('demo', ...args);
      expect(status).to.equal(2);
      expect(stderr).to.equal(`demo: ${reason}\n`);
    });
});
