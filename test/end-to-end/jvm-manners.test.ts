// What the exporter does to the counter files of JVMs, call by call.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { perfFile, someCounters } from '../hsperfdata/perf-file.js';
import { theatre } from '../support/processes.js';
import { TracedExporter, expectToReadOnly } from '../support/traced-exporter.js';
import { pageWith } from './page.js';
import { needsPrograms } from '../support/needs.js';

describe('the exporter and the counter files of JVMs', function () {
  this.slow(20_000);
  const stage = theatre();

  it('opens them for reading, copies them, and neither writes nor locks', async function () {
    needsPrograms(this, 'strace');
    const { pid } = stage.command(['sleep', '600']);
    const directory = stage.path('hsperfdata_shop');
    mkdirSync(directory, { mode: 0o755 });
    writeFileSync(join(directory, String(pid)), perfFile(someCounters()).bytes, { mode: 0o600 });
    const config = stage.config(
      {},
      `[[targets]]\napp = "jvm"\nserver_key = "jvm"\nformat = "hsperfdata"\nformat_settings = { directories = ["${directory}"] }\n`,
    );
    const exporter = new TracedExporter(stage, config);
    const url = await exporter.url();
    for (let scrapes = 0; scrapes < 3; scrapes++)
      await pageWith(url, (series) => series.get('jvm_processes{}') === '1', 'it is there');
    const calls = await exporter.callsTo(`hsperfdata_shop/${pid}`);
    expect(calls.length).to.be.greaterThan(3);
    expectToReadOnly(calls);
  });
});
