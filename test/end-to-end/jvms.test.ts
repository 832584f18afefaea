// Tests the metrics of a host's JVMs in both execution modes: JVMs are found, scraped, and removed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { perfFile, someCounters } from '../hsperfdata/perf-file.js';
import { SPECIFIED_MODE as mode } from '../support/modes.js';
import { PROJECT, testPrograms } from '../support/processes.js';
import { applicationPart, pageWith, readyPage, scrape } from './page.js';
import { needs } from '../support/needs.js';

const FAKE_JVM = join(PROJECT, 'dist-test/hsperfdata/fake-jvm.js');

describe('an exporter of JVMs', function () {
  this.slow(10_000);
  const programs = testPrograms();

  /** Starts an exporter that looks for JVMs in a folder of the test. */
  function exporterOf(name: string, settings = ''): Promise<string> {
    mkdirSync(programs.path(name), { recursive: true });
    const directories = JSON.stringify([programs.path(`${name}/hsperfdata_*`)]);
    const config = programs.config(
      { worker_execution_mode: mode },
      `[[targets]]\napp = "jvm"\nserver_key = "jvm"\nformat = "hsperfdata"\nformat_settings = { directories = ${directories}${settings} }\n`,
    );
    return programs.start('exporter', ['--config', config]).url();
  }

  /** Starts a process in place of a JVM, with a counter file. */
  async function jvm(
    name: string,
    mainClass?: string,
  ): Promise<{ readonly pid: number; readonly path: string }> {
    const directory = programs.path(`${name}/hsperfdata_shop`);
    const counters = programs.path(`${name}-counters`);
    writeFileSync(counters, perfFile(someCounters(mainClass)).bytes);
    const running = programs.command([process.execPath, FAKE_JVM, counters, directory]);
    await running.line(/^ready$/m);
    return { pid: running.pid, path: join(directory, String(running.pid)) };
  }

  it('is ready before a JVM runs, and shows each JVM while it runs', async () => {
    const url = await exporterOf('come');
    expect(await readyPage(url)).to.match(/^jvm_processes 0$/m);
    const { pid, path } = await jvm('come');
    const labels = `{pid="${pid}",main_class="org.shop.Till"}`;
    await pageWith(url, (series) => series.get('jvm_processes{}') === '1', 'it is there');
    const page = await scrape(url);
    const lines = page.body.split('\n').filter((line) => line.includes(`pid="${pid}"`));
    expect(lines).to.include.members([
      `jvm_threads_current${labels} 12`,
      `jvm_threads_started_total${labels} 1099511627776`,
      `jvm_safepoint_seconds_total${labels} 0.313775303`,
      `jvm_info{pid="${pid}",main_class="org.shop.Till",runtime="Test VM"} 1`,
      `jvm_gc_collection_seconds_sum{pid="${pid}",gc="Test collections",main_class="org.shop.Till"} 1.500000001`,
      `jvm_gc_collection_seconds_count{pid="${pid}",gc="Test collections",main_class="org.shop.Till"} 7`,
      `jvm_memory_pool_collection_used_bytes{pid="${pid}",pool="young eden",main_class="org.shop.Till"} 4096`,
      `jvm_memory_pool_collection_used_bytes{pid="${pid}",pool="metaspace",main_class="org.shop.Till"} 8192`,
    ]);
    expect(lines.find((line) => line.startsWith('jvm_application_'))).to.match(/sales.* -5$/);
    expect(page.body)
      .to.match(/^jvm_processes 1$/m)
      .and.not.to.contain('hunter2');
    rmSync(path);
    await pageWith(url, (series) => series.get('jvm_processes{}') === '0', 'it is gone');
  });

  it('passes the linter of Prometheus', async function () {
    await jvm('lint');
    const page = await readyPage(await exporterOf('lint'));
    const lint = spawnSync('promtool', ['check', 'metrics'], { input: applicationPart(page) });
    needs(this, lint.error === undefined, 'promtool is not in PATH');
    expect(lint.stdout.toString() + lint.stderr.toString()).to.equal('');
  });

  it('shows the JVMs that its settings select', async () => {
    await jvm('choose', 'org.shop.Till');
    const { pid } = await jvm('choose', '/opt/stock/stock.jar');
    const page = await readyPage(await exporterOf('choose', ', main_classes = ["*.jar"]'));
    expect(page).to.contain(`jvm_threads_current{pid="${pid}",main_class="stock.jar"} 12`);
    expect(page).to.match(/^jvm_processes 1$/m);
  });
});
