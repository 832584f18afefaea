// Compares the scrape times of this build and of another checkout. Both builds read one publisher and are scraped
// alternately, so that noise of the machine affects both alike. Usage: against.js CHECKOUT [series] [rounds] [gzip]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeCatalogue } from './catalogue.js';
import { startExporter } from './exporter.js';
import { agent, scrape } from './scrape.js';

const [checkout, series = '100000', rounds = '15', encoding = 'identity'] = process.argv.slice(2);
if (checkout === undefined) throw new Error('Usage: against.js CHECKOUT [series] [rounds] [gzip]');
const SHARES = [0, 0.01, 0.1, 1];
const MODES = ['logical', 'threaded'];
const folder = mkdtempSync(join(tmpdir(), 'shm-against-'));
const contextId = `against${process.pid}`;
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

const publisher = fork(new URL('publisher.js', import.meta.url), [contextId, series]);
const exporters = [];
try {
  await once(publisher, 'message');
  const catalogue = writeCatalogue(folder);
  for (const mode of MODES)
    for (const dist of [undefined, join(checkout, 'dist')]) {
      const lines = [
        `context_id = "${contextId}"`,
        'app = "bench"',
        'server_keys = ["1"]',
        'render_min_interval_ms = 1',
        `worker_execution_mode = "${mode}"`,
        `catalogue_files = ["${catalogue}"]`,
      ];
      exporters.push({
        mode,
        times: SHARES.map(() => []),
        ...(await startExporter(folder, lines, 1, dist)),
      });
    }
  for (let round = -3; round < Number(rounds); round++)
    for (const [index, share] of SHARES.entries()) {
      publisher.send({ change: share });
      await once(publisher, 'message');
      for (let turn = 0; turn < exporters.length; turn++) {
        const each = exporters[(turn + round + 3) % exporters.length];
        await sleep(20);
        const { ms, bytes } = await scrape(each.port, false, { 'accept-encoding': encoding });
        each.bytes = bytes;
        if (round >= 0) each.times[index].push(ms);
      }
    }
  for (const { mode, bytes } of exporters) console.log(`${mode}: ${bytes} bytes`);
  console.log('| mode | changed | this ms | other ms | this / other |\n|---|---:|---:|---:|---:|');
  for (const mode of MODES) {
    const [ours, other] = exporters.filter((each) => each.mode === mode);
    SHARES.forEach((share, index) => {
      const ratio = median(ours.times[index].map((ms, round) => ms / other.times[index][round]));
      const cells = [ours, other].map(({ times }) => median(times[index]).toFixed(2));
      console.log(`| ${mode} | ${share * 100} % | ${cells.join(' | ')} | ${ratio.toFixed(2)} |`);
    });
  }
} finally {
  agent.destroy();
  for (const { stop } of exporters) await stop();
  publisher.disconnect();
  rmSync(folder, { recursive: true, force: true });
}
