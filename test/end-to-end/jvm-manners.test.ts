// Tests which system calls the exporter makes on the counter files of JVMs.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { perfFile, someCounters } from '../hsperfdata/perf-file.js';
import { PROJECT, waitFor, testPrograms } from '../support/processes.js';
import { TracedExporter, expectToReadOnly } from '../support/traced-exporter.js';
import { pageWith } from './page.js';
import { needs, needsPrograms, needsRoot } from '../support/needs.js';
import { TILL_CLASS } from '../hsperfdata/till-class.js';

/** Runs the exporter with the right to read the files of all users, as docs/formats.md describes. */
const AS_NOBODY =
  'setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +dac_read_search --ambient-caps +dac_read_search';

describe('an exporter that reads the counter files of JVMs', function () {
  this.slow(20_000);
  const programs = testPrograms();

  it('opens the files for reading, copies them, and neither writes nor locks them', async function () {
    needsPrograms(this, 'strace');
    const directory = programs.path('hsperfdata_shop');
    writeFileSync(programs.path('counters'), perfFile(someCounters()).bytes);
    const program = join(PROJECT, 'dist-test/hsperfdata/fake-jvm.js');
    const words = [process.execPath, program, programs.path('counters'), directory];
    const jvm = programs.command(words);
    await jvm.line(/^ready$/m);
    const { pid } = jvm;
    const config = programs.config(
      {},
      `[[targets]]\napp = "jvm"\nserver_key = "jvm"\nformat = "hsperfdata"\nformat_settings = { directories = ["${directory}"] }\n`,
    );
    const exporter = new TracedExporter(programs, config);
    const url = await exporter.url();
    for (let scrapes = 0; scrapes < 3; scrapes++)
      await pageWith(url, (series) => series.get('jvm_processes{}') === '1', 'it is there');
    const calls = await exporter.callsTo(`hsperfdata_shop/${pid}`);
    expect(calls.length).to.be.greaterThan(3);
    expectToReadOnly(calls);
  });

  it('reports the number of JVMs that it omits because /proc hides their processes', async function () {
    needsPrograms(this, 'java', 'unshare', 'setpriv');
    needsRoot(this);
    const inside = `mount -t proc -o hidepid=2 proc /proc && exec ${AS_NOBODY} "$@"`;
    const under = ['--mount', 'sh', '-c', inside, 'sh'];
    const probe = spawnSync('unshare', [...under, 'true']);
    needs(this, probe.status === 0, 'this process may not mount /proc');
    writeFileSync(programs.path('Till.class'), TILL_CLASS);
    const flags = ['--add-exports', 'java.base/jdk.internal.perf=ALL-UNNAMED', '-Xmx64m'];
    const words = ['java', ...flags, '-cp', programs.path(''), 'Till'];
    const jvm = programs.command(words, { stdin: 'pipe' });
    await waitFor('the JVM is ready', () => jvm.stdout.includes('ready') || undefined);
    const config = programs.config(
      {},
      '[[targets]]\napp = "jvm"\nserver_key = "jvm"\nformat = "hsperfdata"\nformat_settings = { main_classes = ["Till"] }\n',
    );
    const exporter = programs.start('exporter', ['--config', config], {
      under: ['unshare', ...under],
    });
    await pageWith(
      await exporter.url(),
      (series) => Number(series.get('jvm_processes_left_out{}')) > 0,
      'it is left out',
    );
    await exporter.line(/\/proc hides the processes of other users \(hidepid=\w+\)/);
  });
});
