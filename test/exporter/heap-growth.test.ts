// The heap of V8 stays near what the process needs.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { GrowthSince, restWatch } from '#app/exporter/at-rest.js';
import { savingAtRest } from '#app/exporter/heap-growth.js';

/** Makes objects that survive for a while, and prints how large the space of young ones is then. */
const churning = (before: string): string => `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { setImmediate } from 'node:timers/promises';
  ${before}
  for (let round = 0; round < 60; round++) {
    const kept = [];
    for (let i = 0; i < 150_000; i++) kept.push({ i });
    await setImmediate();
  }
  const spaces = getHeapSpaceStatistics();
  console.log(spaces.find((each) => each.space_name === 'new_space').space_size);
  process.exit(0);
`;
const sizeOf = (before = ''): number => {
  const program = ['--input-type=module', '--eval', churning(before)];
  return Number(spawnSync(process.execPath, program, { encoding: 'utf8' }).stdout);
};

describe('the heap of V8', () => {
  it('has no more room for young objects than a scrape needs', () => {
    const module = JSON.stringify(import.meta.resolve('#app/exporter/heap-growth.js'));
    const bound = sizeOf(
      `(await import(${module})).boundHeapGrowth(() => process.memoryUsage.rss());`,
    );
    expect(bound).to.be.within(1, 17_000_000);
    expect(sizeOf(), 'without the bound').to.be.above(bound);
  });
});

describe('savingAtRest', () => {
  it('takes the process for busy while the system does not tell its size', () => {
    const save = savingAtRest(() => {
      throw new Error('EMFILE: too many open files, uv_resident_set_memory');
    });
    expect(save).not.to.throw();
  });
});

describe('restWatch', () => {
  it('tells that a process rests unless it grew by more than a tenth', () => {
    const isAtRest = restWatch();
    const table = [
      [100, false],
      [109, true],
      [130, false],
      [140, true],
      [90, true],
      [101, false],
    ] as const;
    for (const [bytes, rests] of table) expect(isAtRest(bytes), String(bytes)).to.equal(rests);
  });
});

describe('GrowthSince', () => {
  it('tells whether a process grew by enough since it had a size, at first since it had none', () => {
    const growth = new GrowthSince(10);
    expect(growth.isEnough(9)).to.equal(false);
    expect(growth.isEnough(10)).to.equal(true);
    growth.begin(50);
    expect(growth.isEnough(59)).to.equal(false);
    expect(growth.isEnough(60)).to.equal(true);
    growth.begin(5);
    expect(growth.isEnough(15)).to.equal(true);
  });
});
