// Tests the npm package of the publisher library, installed into an empty project without a network.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsPrograms } from '../support/needs.js';
import { PROJECT } from '../support/processes.js';
import { suiteFolder } from '../support/suite-folder.js';
import { uniqueName } from '../support/test-run.js';

const IMPORT = `import { readFileSync } from 'node:fs';
import { Publisher } from 'shm-publisher';
`;
const REQUIRE = `const { readFileSync } = require('node:fs');
const { Publisher } = require('shm-publisher');
`;
const DONE = { status: 0, signal: null, stdout: 'published\n', stderr: '' };

describe('The npm package of the publisher library', function () {
  this.timeout(120_000).slow(10_000);
  const folder = suiteFolder('shm-publisher-');
  const contextId = uniqueName();

  before(() => {
    const archive = spawnSync('npm', ['pack', '--silent', '--pack-destination', folder()], {
      cwd: join(PROJECT, 'dist/shm-publisher'),
      encoding: 'utf8',
    });
    expect(archive.status, archive.stderr).to.equal(0);
    mkdirSync(folder('app'));
    writeFileSync(folder('app/package.json'), '{}');
    const words = ['install', '--offline', '--ignore-scripts', '--cache', folder('cache')];
    const installed = spawnSync('npm', [...words, folder(archive.stdout.trim())], {
      cwd: folder('app'),
      encoding: 'utf8',
    });
    expect(installed.status, installed.stderr).to.equal(0);
  });

  // Reading a segment of the default capacity would take a second.
  const CAPACITY = '{ records: 256, slots: 256, stringBytes: 16384, frameBytes: 16384 }';
  /** Code that publishes a value, checks the bytes of the segment, and closes the segment. */
  const publish = (key: string, end = 'publisher.close();') => `
    {
      const options = { contextId: '${contextId}', capacity: ${CAPACITY} };
      const publisher = new Publisher({ ...options, serverKey: ${key} });
      const root = publisher.addRoot('host.1.shop', 'Shop');
      publisher.addVariable(root, 'sales', 'u64').set(0x123456789abcn);
      publisher.place();
      if (!publisher.holdsKey) throw new Error('it does not hold its key');
      const bytes = readFileSync('/dev/shm/${contextId}.pool.' + ${key});
      if (!bytes.includes(Buffer.from('bc9a78563412', 'hex'))) throw new Error('no value');
      ${end}
    }`;
  const PUBLISHED = "console.log('published');\n";

  const write = (name: string, text: string): string => {
    const file = folder('app', name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const run = (args: readonly string[]) => {
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder('app'),
      encoding: 'utf8',
    });
    const warnings = /^\(node:\d+\) \w*Warning: .*\n(\(Use .*\n)?/gm;
    return { status, signal, stdout, stderr: stderr.replace(warnings, '') };
  };

  it('has neither dependencies nor scripts', () => {
    const file = folder('app/node_modules/shm-publisher/package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
    expect(manifest).not.to.have.any.keys('dependencies', 'optionalDependencies', 'scripts');
  });

  it('publishes from ES modules and CommonJS modules, which have one copy of the library', () => {
    const file = write(
      'both.mjs',
      `${IMPORT}import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      if (require('shm-publisher').Publisher !== Publisher) throw new Error('two copies');
      ${publish("'both'")}${PUBLISHED}`,
    );
    expect(run([file])).to.deep.equal(DONE);
  });

  it('has the names and the default export of prom-client in its entry `prom-client`', () => {
    const names =
      "['Counter', 'Gauge', 'Histogram', 'Summary', 'Registry', 'register', 'collectDefaultMetrics']";
    const check = (library: string) => `
      for (const name of ${names}) if (!(name in ${library})) throw new Error('no ' + name);
      if (!${library}.contentType.startsWith('text/plain')) throw new Error('no content type');
      ${PUBLISHED}`;
    const module = write(
      'client.mjs',
      `import client, { Counter } from 'shm-publisher/prom-client';
      import { Counter as Other } from 'shm-publisher';
      if (Counter !== Other || client.Counter !== Other) throw new Error('two copies');
      ${check('client')}`,
    );
    const common = write(
      'client.cjs',
      `const client = require('shm-publisher/prom-client');${check('client')}`,
    );
    for (const file of [module, common]) expect(run([file])).to.deep.equal(DONE);
  });

  /** The code of a worker thread that publishes and then ends as `workerData` says. */
  const THREAD = `${REQUIRE}const { parentPort, workerData } = require('node:worker_threads');
    ${publish("'thread'", "if (workerData === 'closed') publisher.close();")}
    if (workerData === 'exits') process.exit();
    if (workerData === 'is terminated') { parentPort.postMessage(''); setInterval(() => {}, 1000); }
  `;
  /** Runs threads one after the other, and counts the mappings that they leave. */
  const threads = (thread: string) => `
    const { Worker } = require('node:worker_threads');
    const { readFileSync } = require('node:fs');
    (async () => {
      for (const workerData of ['ends', 'exits', 'is terminated', 'ends', 'exits', 'closed']) {
        const worker = new Worker(${JSON.stringify(thread)}, { workerData });
        worker.on('message', () => worker.terminate());
        await new Promise((done, fail) => worker.on('error', fail).on('exit', done));
      }
      const maps = readFileSync('/proc/self/maps', 'utf8').split('\\n');
      const left = maps.filter((line) => line.includes('/dev/shm/'));
      console.log(left.length === 0 ? 'published' : left.join('\\n'));
    })();`;

  it('publishes in worker threads, and unmaps the segments of threads that have ended in any way', () => {
    const file = write('threads.cjs', threads(write('thread.cjs', THREAD)));
    expect(run([file])).to.deep.equal(DONE);
  });

  it('publishes in the main thread and in a worker thread at once', () => {
    const thread = write('beside.cjs', REQUIRE + publish("'beside'"));
    const file = write(
      'main.cjs',
      `${REQUIRE}const { Worker } = require('node:worker_threads');
      ${publish(
        "'main'",
        `new Worker(${JSON.stringify(thread)}).on('exit', () => {
          publisher.addVariable(root, 'more', 'u64').set(1);
          publisher.close();
          ${PUBLISHED}
        });`,
      )}`,
    );
    expect(run([file])).to.deep.equal(DONE);
  });

  it('publishes in the processes of a cluster', () => {
    const file = write(
      'cluster.cjs',
      `${REQUIRE}const cluster = require('node:cluster');
      if (cluster.isPrimary) {
        let ended = 0;
        for (let i = 0; i < 2; i++)
          cluster.fork().on('exit', (status) => {
            if (status !== 0) process.exit(status);
            if (++ended === 2) ${PUBLISHED}
          });
      } else {
        ${publish("'worker-' + cluster.worker.id")}
        process.exit();
      }`,
    );
    expect(run([file])).to.deep.equal(DONE);
  });

  it('publishes from two copies in one process', () => {
    cpSync(folder('app/node_modules/shm-publisher'), folder('app/copy'), { recursive: true });
    const file = write(
      'copies.cjs',
      `const { readFileSync } = require('node:fs');
      const copies = [require('shm-publisher'), require('./copy')];
      if (copies[0] === copies[1]) throw new Error('one copy');
      for (const { Publisher } of copies) ${publish("'copies'")}
      ${PUBLISHED}`,
    );
    expect(run([file])).to.deep.equal(DONE);
  });

  it('publishes under the permission model of Node.js', () => {
    const name = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission';
    const rights = [
      ...['/dev/shm/', '/proc/self/', folder('app/')].map((path) => `--allow-fs-read=${path}*`),
      ...['/dev/shm/', '/proc/self/fd/'].map((path) => `--allow-fs-write=${path}*`),
    ];
    const file = write('permission.cjs', REQUIRE + publish("'permission'") + PUBLISHED);
    expect(run([name, '--allow-addons', ...rights, file])).to.deep.equal(DONE);
  });

  describe('in a bundle of esbuild', () => {
    const bundle = (name: string, code: string, format: string, more: readonly string[] = []) => {
      const input = write(`${name}.source.${format === 'esm' ? 'mjs' : 'cjs'}`, code);
      const words = [
        '--bundle',
        '--platform=node',
        `--format=${format}`,
        `--outfile=${folder(name)}`,
        ...more,
      ];
      const { stderr } = spawnSync(join(PROJECT, 'node_modules/.bin/esbuild'), [...words, input], {
        encoding: 'utf8',
      });
      expect(stderr).not.to.match(/warning|error/i);
      return folder(name);
    };
    const copyAddon = (to: string) => {
      cpSync(folder('app/node_modules/shm-publisher/prebuilds'), folder(to), { recursive: true });
    };

    it('publishes on the main thread, in both formats, with the addon beside the bundle', () => {
      copyAddon('out/prebuilds');
      for (const [format, code] of [
        ['esm', IMPORT],
        ['cjs', REQUIRE],
      ] as const) {
        const program = code + publish("'bundle'") + PUBLISHED;
        const name = `out/main.${format === 'esm' ? 'mjs' : 'cjs'}`;
        expect(run([bundle(name, program, format)])).to.deep.equal(DONE);
      }
    });

    it('has one registry for all entries, and the default export of prom-client', () => {
      const file = bundle(
        'out/entries.mjs',
        `import client from 'shm-publisher/prom-client';
        import { Counter, register } from 'shm-publisher';
        if (client.Counter !== Counter || client.register !== register) throw new Error('two copies');
        if (!client.contentType.startsWith('text/plain')) throw new Error(client.contentType);
        ${PUBLISHED}`,
        'esm',
      );
      expect(run([file])).to.deep.equal(DONE);
    });

    it('finds prom-client beside the bundle, also if the bundler replaced import.meta.url as webpack does', () => {
      const code = `import { collectDefaultMetrics, register } from 'shm-publisher/prom-client';
        collectDefaultMetrics();
        if (register.getMetricsAsArray().length === 0) throw new Error('none');
        ${PUBLISHED}`;
      const builder = JSON.stringify('file:///folder/of/the/builder/prom-client.mjs');
      const file = bundle('moved/out.cjs', code, 'esm', [
        '--format=cjs',
        `--define:import.meta.url=${builder}`,
      ]);
      mkdirSync(folder('moved/node_modules'));
      symlinkSync(
        join(PROJECT, 'node_modules/prom-client'),
        folder('moved/node_modules/prom-client'),
      );
      const program = write('moved.cjs', `require(${JSON.stringify(file)});`);
      expect(run([program])).to.deep.equal(DONE);
      // Webpack gives a program that imports this function another one.
      expect(readFileSync(file, 'utf8')).not.to.match(/[^.\w]createRequire\b/);
    });

    it('publishes in worker threads', () => {
      copyAddon('out/prebuilds');
      const thread = bundle('out/thread.cjs', THREAD, 'cjs');
      expect(run([write('bundled-threads.cjs', threads(thread))])).to.deep.equal(DONE);
    });

    it('names the remedy if the addon is missing', () => {
      const file = bundle('alone/main.cjs', REQUIRE + publish("'alone'") + PUBLISHED, 'cjs');
      const { status, stderr } = run([file]);
      expect(status).to.equal(1);
      expect(stderr).to.include(
        'linux-x64.node is missing: copy the folder prebuilds of shm-publisher beside the bundle, or leave the package out of the bundle',
      );
    });
  });

  it('shows the lines of its TypeScript sources in stack traces', () => {
    const file = write('maps.cjs', `${REQUIRE}new Publisher({ serverKey: 1 });`);
    const { stderr } = run(['--enable-source-maps', file]);
    expect(stderr).to.match(/RangeError: .*serverKey/);
    expect(stderr).to.match(/at .*src\/native\/publisher\/publisher\.ts:\d+/);
  });

  it('publishes where the engine allows no external memory, in the main thread and in worker threads', function () {
    needsPrograms(this, 'cc');
    cpSync(folder('app/node_modules/shm-publisher'), folder('app/inside'), { recursive: true });
    const built = run([
      '--input-type=module',
      '-e',
      `process.chdir(${JSON.stringify(PROJECT)});
      const { buildAddon } = await import(${JSON.stringify(join(PROJECT, 'scripts/addon.js'))});
      buildAddon(${JSON.stringify(folder('app/inside/prebuilds'))}, process.arch, ['ALLOW_EXTERNAL=false']);`,
    ]);
    expect(built.stderr).to.equal('');
    const own = (code: string) => code.replace("'shm-publisher'", "'./inside'");
    const main = write('inside.cjs', own(REQUIRE) + publish("'inside'") + PUBLISHED);
    expect(run([main])).to.deep.equal(DONE);
    const file = write('inside-threads.cjs', threads(write('inside-thread.cjs', own(THREAD))));
    expect(run([file])).to.deep.equal(DONE);
  });
});
