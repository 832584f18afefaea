// Many targets on many publishers for some seconds: the soak of bench/, kept alive. Spec 1.10.
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SOAK = fileURLToPath(new URL('../../bench/soak.js', import.meta.url));
const SECONDS = '4';

describe('200 targets on 50 publishers, with objects that come and go', function () {
  this.timeout(60_000);

  for (const [mode, assignment] of [
    ['logical', 'hash'],
    ['threaded', 'least_loaded'],
  ] as const)
    it(`serve no wrong value and stay ready: ${mode}, ${assignment}`, async () => {
      const soak = spawn(process.execPath, [SOAK, SECONDS, mode, assignment]);
      let told = '';
      soak.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
      soak.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
      const [status] = (await once(soak, 'close')) as [number | null];
      expect(status, told).to.equal(0);
    });
});
