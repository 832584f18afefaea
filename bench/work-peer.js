// Runs work-server.js for the harness of ../shared/peers, which sets the number of series and of changes. The server
// uses its own values and labels, so the harness reports its page as wrong. The page is also a tenth shorter.
// Usage: work-peer.js PORT
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ScrapeWork } from './scrape-work.js';
import { serverOf } from './work-server.js';

const given = (name) => readFileSync(join(process.env.PEER_DIR, name));
const series = given('values.bin').length / 8;
const work = new ScrapeWork(series);
createInterface({ input: process.stdin })
  .on('line', () => {
    work.change(given('changes.bin').readUInt32LE(0) / series);
    process.stdout.write('ok\n');
  })
  .on('close', () => {
    work.close();
    process.exit(0);
  });
serverOf(work).listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('ready\n'));
