// Tests that prometheus_client's metrics are shown as the library shows them if their values are in a segment.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { differences, familiesOf, withNumericBounds } from '../multiprocess/compared-pages.js';
import {
  PYTHON_0_16,
  PYTHON_0_21,
  environmentOf,
  needsLibraries,
} from '../support/metric-libraries.js';
import type { MetricLibrary } from '../support/metric-libraries.js';
import { PROJECT, testPrograms, waitFor } from '../support/processes.js';
import { applicationPart, scrape } from './page.js';

const PACKAGE = join(PROJECT, 'sdk/python');

/** Changes metrics in stages. At each stage, writes the page of the library to a file, and waits for another. */
const SCRIPT = `
import gc, os, sys, time
from prometheus_client import *
context, folder = sys.argv[1:]
registry = CollectorRegistry()
early = Counter("early", "Declared before the import.", ["code"], registry=registry)
early.labels("200").inc()
import shm_publisher.prometheus
early.labels("500").inc(2)
requests = Counter("http_requests", "Requests\\\\ that\\nwere answered.", ["code", "path"], registry=registry)
delay = Histogram("delay_seconds", "Delay.", ["path"], buckets=(0.1, 1, 10), registry=registry)
size, queue = Summary("size", "Size.", registry=registry), Gauge("app:queue", "Jobs.", ["name"], registry=registry)
helped = Counter("helped", "ü" * 4000, registry=registry)
Info("build", "Build.", registry=registry).info({"version": "1.2"})
phase = Enum("phase", "Phase.", states=["up", "down"], registry=registry)
requests.labels("200", "/\\"a\\"\\\\\\n").inc(3)
published = shm_publisher.prometheus.publish("values", "pyapp", registry=registry, interval=0.05, context_id=context)
queue.labels("ü").set(float("-inf"))
for value in 0.05, 0.5, 5, 50:
    delay.labels("/").observe(value)
    size.observe(value)

def stage(number):
    with open(os.path.join(folder, f"page-{number}.part"), "wb") as file:
        file.write(generate_latest(registry))
    os.rename(file.name, os.path.join(folder, f"page-{number}"))
    while not os.path.exists(os.path.join(folder, f"go-{number}")):
        time.sleep(0.02)

stage(1)
requests.labels("200", "/\\"a\\"\\\\\\n").inc(0.5)
requests.labels("500", "").inc()
delay.labels("/late").observe(2)
queue.remove("ü")
Gauge("called", "Called.", registry=registry).set_function(lambda: 42)
phase.state("down")
size.observe(1)
stage(2)
kept = delay.labels("/")
delay.remove("/")
delay.labels("/").observe(7)
kept.observe(1e9)
registry.unregister(helped)
del helped
late = Gauge("late", "Late.", registry=registry)
registry.unregister(late)
late.set(5)
late = Gauge("late", "Late.", registry=registry)
late.inc(7)
requests.clear()
def follow_itself(metric):
    child = metric.labels("x")
    child.set_function(lambda: id(child))
    metric.remove("x")
followed = Gauge("followed", "Followed.", ["a"], registry=registry)
follow_itself(followed)
registry.unregister(followed)
gc.collect()
stage(3)
if os.fork() == 0:
    late.inc()
    assert late._value.get() == 1 and os.path.exists(f"/dev/shm/{context}.pool.values-{os.getpid()}")
    sys.exit(0)
assert os.wait()[1] == 0
stage(4)
rest = shm_publisher.prometheus._Rest(registry)
assert {family.name for family in rest.collect()} == {"early", "build", "phase"}
published.close()
assert late._value.get() == 7
`;

/** The exporter states starts as start timestamps, and help texts have at most 4,096 bytes. */
const comparable = (page: string): string =>
  page
    .replace(/^# (HELP|TYPE) \S+_created .*\n|^\S+_created[ {].*\n/gm, '')
    .replace(/ü{2048,}/g, 'ü');

const read = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, 'utf8') : undefined;

/** Prints the application of the segment. */
const APP = `
import shm_publisher.prometheus
from prometheus_client import Counter
from shm_publisher.store import STORE
Counter("a", "A.")
print(STORE._publication.root.name.split(".")[-1])
`;

for (const library of [PYTHON_0_16, PYTHON_0_21])
  describe(`values of ${library.name} in a segment`, function () {
    this.slow(15_000);
    before(function () {
      needsLibraries(this, library);
    });
    const programs = testPrograms();

    it('are shown as the library shows them, also after removals and forks', async () => {
      const script = programs.write('values.py', SCRIPT);
      const env = Object.entries(withPackage(library)).map(([name, value]) => `${name}=${value}`);
      const program = programs.command([
        ...['env', ...env, ...library.program, script, programs.contextId, programs.path('.')],
      ]);
      const exporter = programs.exporter({
        ...{ app: 'pyapp', server_keys: ['values'], render_min_interval_ms: 1 },
      });
      for (const stage of [1, 2, 3, 4]) {
        const written = await waitFor(`stage ${stage}`, () => read(programs.path(`page-${stage}`)));
        let found: readonly string[] = [];
        await waitFor('the page of the library', async () => {
          const { status, body } = await scrape(await exporter.url());
          if (status !== 200) return undefined;
          const own = withNumericBounds(familiesOf(comparable(applicationPart(body))));
          found = differences(withNumericBounds(familiesOf(comparable(written))), own);
          return found.length === 0 ? true : undefined;
        }).catch((error: unknown) => {
          expect(found, `stage ${stage}`).to.deep.equal([]);
          throw error;
        });
        programs.write(`go-${stage}`, '');
      }
      expect(await program.ended, program.stderr).to.deep.equal({ status: 0, signal: null });
      expect(program.stderr).to.equal('');
      expect(programs.segments()).to.deep.equal([]);
    });

    it('have an application whose name comes from the server key, which may begin with a digit', () => {
      const { program, ...rest } = library;
      const [python = '', ...first] = program;
      for (const [key, app] of [
        ['shop-1.a', 'shop_1_a'],
        ['82', 'app_82'],
        ['_a-{pid}', 'app__a'],
        ['1'.repeat(64), `app_${'1'.repeat(60)}`],
      ] as const) {
        const { stdout, stderr } = spawnSync(python, [...first, '-c', APP], {
          encoding: 'utf8',
          env: {
            ...environmentOf(library),
            ...withPackage({ program, ...rest }),
            PROMETHEUS_SHM_SERVER_KEY: key,
            PROMETHEUS_SHM_CONTEXT_ID: programs.contextId,
          },
        });
        expect(stdout + stderr).to.equal(`${app}\n`);
      }
    });

    it('are refused with the name of a wrong variable of the environment', () => {
      const { program, ...rest } = library;
      const [python = '', ...first] = program;
      for (const [env, words] of [
        [{ PROMETHEUS_SHM_SERVER_KEY: 'a b' }, ['PROMETHEUS_SHM_SERVER_KEY', 'a b', 'letters']],
        [
          { PROMETHEUS_SHM_SERVER_KEY: 'shop', PROMETHEUS_SHM_APP: '1-shop' },
          ['PROMETHEUS_SHM_APP', '1-shop', 'letters'],
        ],
      ] as const) {
        const { status, stderr } = spawnSync(
          python,
          [...first, '-c', 'import shm_publisher.prometheus'],
          {
            encoding: 'utf8',
            env: { ...environmentOf(library), ...withPackage({ program, ...rest }), ...env },
          },
        );
        expect(status).to.equal(1);
        for (const word of words) expect(stderr).to.include(word);
      }
    });

    /** Runs Python with the package, and `words` as its arguments. */
    const run = (words: readonly string[], env: Record<string, string> = {}) => {
      const [python = '', ...first] = library.program;
      return spawnSync(python, [...first, ...words], {
        encoding: 'utf8',
        cwd: programs.path('.'),
        env: { ...environmentOf(library), ...withPackage(library), ...env },
      });
    };

    it('warn of a directory for metric files, which gets none', () => {
      const words = ['-c', 'import shm_publisher.prometheus'];
      const { status, stderr } = run(words, { PROMETHEUS_MULTIPROC_DIR: programs.path('.') });
      expect(status).to.equal(0);
      expect(stderr).to.match(/^shm_publisher: PROMETHEUS_MULTIPROC_DIR is set, .*\n$/);
      expect(run(words).stderr).to.equal('');
    });

    it('come from a program that the module starts, with a line if it is wrong', () => {
      programs.write('importing.py', 'import missing_module\n');
      const env = { PROMETHEUS_SHM_SERVER_KEY: 'shop' };
      for (const [words, settings, status, stdout, stderr] of [
        [['--help'], {}, 0, /^usage: .*\n.* -m MODULE \[ARGUMENTS\]\n$/, /^$/],
        [['-m'], env, 1, /^$/, /^usage: /],
        [['-m', 'a'], {}, 1, /^$/, /^PROMETHEUS_SHM_SERVER_KEY: not set, .*\n$/],
        [['-m', 'nomodule'], env, 1, /^$/, /^-m nomodule: found no module of this name\n$/],
        [['-m', 'no.module'], env, 1, /^$/, /^-m no\.module: found no module of this name\n$/],
        [['-m', 'importing'], env, 1, /^$/, /Traceback[^]*No module named 'missing_module'/],
        [['nofile'], env, 1, /^$/, /^nofile: found no file, .*\n$/],
        [['-m', 'this'], env, 0, /Zen/, /^$/],
      ] as const) {
        const ended = run(['-m', 'shm_publisher.prometheus', ...words], settings);
        expect([ended.status, words.join(' ')]).to.deep.equal([status, words.join(' ')]);
        expect(ended.stdout).to.match(stdout);
        expect(ended.stderr).to.match(stderr);
      }
    });
  });

function withPackage({ env }: MetricLibrary): Record<string, string> {
  return { ...env, PYTHONPATH: `${PACKAGE}:${env['PYTHONPATH'] ?? ''}` };
}
