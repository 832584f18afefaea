// Tests that a registry of Python's prometheus_client, which a program publishes, is shown as the registry shows it.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { differences, familiesOf, withNumericBounds } from '../multiprocess/compared-pages.js';
import { PYTHON_0_16, PYTHON_0_21, needsLibraries } from '../support/metric-libraries.js';
import { PROJECT, testPrograms, waitFor } from '../support/processes.js';
import { readyPage, scrape } from './page.js';

/** Publishes a registry in stages. At each stage, writes the page of the registry to a file, and waits for another. */
const SCRIPT = `
import os, sys, time
from prometheus_client import *
from prometheus_client.core import HistogramMetricFamily
sys.path.insert(0, sys.argv[3])
from shm_publisher.registry import publish_registry
context, folder = sys.argv[1], sys.argv[2]
registry = CollectorRegistry()
requests = Counter("http_requests", "Requests\\\\ that\\nwere answered.", ["code", "path"], registry=registry)
delay = Histogram("delay_seconds", "Delay.", ["path"], buckets=(0.1, 1, 10), registry=registry)
size, queue = Summary("size", "Size.", registry=registry), Gauge("app:queue", "Jobs.", ["name"], registry=registry)
Info("build", "Build.", registry=registry).info({"version": "1.2"})
phase = Enum("phase", "Phase.", states=["up", "down"], registry=registry)
requests.labels("200", "/\\"a\\"\\\\\\n").inc(3)
queue.labels("ü").set(float("-inf"))
for value in 0.05, 0.5, 5, 50:
    delay.labels("/").observe(value)
    size.observe(value)
failing, broken = [], []
class Failing:
    def collect(self):
        if failing: raise OSError("no database")
        if broken: return [HistogramMetricFamily("bad", "Bad.", buckets=[("1", 5), ("+Inf", 2)], sum_value=1)]
        return []
    describe = collect
registry.register(Failing())
published = publish_registry("py-registry", "pyapp", registry, interval=0.05, context_id=context)

def stage(number):
    published.update()
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
phase.state("down")
size.observe(1)
stage(2)
registry.unregister(delay)
Gauge("late", "Late.", registry=registry).set(7)
stage(3)
broken.append(True)
published.update(), published.update()
failing.append(True)
published.update(), published.update()
if os.fork() == 0:
    published.update()
    os._exit(0)
os.wait()
open(os.path.join(folder, "page-4"), "w").close()
while not os.path.exists(os.path.join(folder, "go-4")):
    time.sleep(0.02)
published.close()
`;

/** The exporter states starts as start timestamps, not as metrics. */
const withoutCreated = (page: string): string =>
  page.replace(/^# (HELP|TYPE) \S+_created .*\n|^\S+_created[ {].*\n/gm, '');

for (const library of [PYTHON_0_16, PYTHON_0_21])
  describe(`a published registry of ${library.name}`, function () {
    this.slow(15_000);
    before(function () {
      needsLibraries(this, library);
    });
    const programs = testPrograms();

    it('has the same series, types and help texts, follows the registry, and keeps values if it fails', async () => {
      const script = programs.write('registry.py', SCRIPT);
      const env = Object.entries(library.env).map(([name, value]) => `${name}=${value}`);
      const folder = programs.path('.');
      const program = programs.command([
        ...['env', ...env, ...library.program, script, programs.contextId, folder],
        join(PROJECT, 'sdk/python'),
      ]);
      const exporter = programs.exporter({
        ...{ app: 'pyapp', server_keys: ['py-registry'], render_min_interval_ms: 1 },
      });
      let expected = '';
      for (const stage of [1, 2, 3, 4]) {
        const written = await waitFor(`stage ${stage}`, () => read(programs.path(`page-${stage}`)));
        if (written !== '') expected = withoutCreated(written);
        const page = await readyPage(await exporter.url());
        const own = page.replace(/^# HELP shm_exporter_[^]*/m, '');
        expect(
          differences(withNumericBounds(familiesOf(expected)), withNumericBounds(familiesOf(own))),
          `stage ${stage}`,
        ).to.deep.equal([]);
        programs.write(`go-${stage}`, '');
      }
      expect(await program.ended).to.deep.equal({ status: 0, signal: null });
      expect(program.stderr.match(/cannot be collected: OSError/g)).to.have.lengthOf(1);
      expect(program.stderr.match(/metric bad of the registry is left out: /g)).to.have.lengthOf(1);
      await waitFor('503 after the end', async () =>
        (await scrape(await exporter.url())).status === 503 ? true : undefined,
      );
    });
  });

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
