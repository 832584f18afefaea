// Runs scripts that check their own results.
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs a script of the project, such as `bench/soak.js`; fails with its output unless it exits with 0. */
export async function runScript(script: string, ...args: readonly string[]): Promise<void> {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args]);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  expect(status, output).to.equal(0);
}
