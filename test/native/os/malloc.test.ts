// Tests that freed memory goes back from malloc to the operating system.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';

/**
 * A program that allocates 60 MB in small blocks and keeps a tenth of them. It prints its size before and
 * after it calls returnFreePages().
 */
const FRAGMENTING_PROGRAM = (module: string): string => `
  import { setTimeout } from 'node:timers/promises';
  const { returnFreePages } = await import(${module});
  let kept = [];
  for (let i = 0; i < 1000; i++) kept.push(Buffer.alloc(60_000, 1));
  kept = kept.filter((_, i) => i % 10 === 0);
  for (let i = 0; i < 2; i++) {
    gc();
    await setTimeout(10); // V8 frees them in a thread
  }
  // What is kept is printed, so that it is in use until then.
  const before = process.memoryUsage.rss();
  const returned = returnFreePages();
  console.log(JSON.stringify({ before, returned, after: process.memoryUsage.rss(), kept: kept.length }));
  process.exit(0);
`;

describe('The release of free pages', () => {
  it('gives freed pages back to the operating system, even pages between blocks in use', () => {
    const module = JSON.stringify(import.meta.resolve('#app/native/os/libc.js'));
    const line = ['--expose-gc', '--input-type=module', '--eval', FRAGMENTING_PROGRAM(module)];
    const { stdout, stderr } = spawnSync(process.execPath, line, { encoding: 'utf8' });
    expect(stdout, stderr).to.include('"returned":true');
    const { before, after } = JSON.parse(stdout) as { before: number; after: number };
    expect(before - after).to.be.above(30_000_000);
  });
});
