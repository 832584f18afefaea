// Whether a process can be the JVM that wrote a counter file.
import { mkdirSync, writeFileSync } from 'node:fs';
import { getuid } from 'node:process';
import { expect } from 'chai';
import { startTicksOf } from '#app/foreign/process-start.js';
import { whyNotWriter } from '#app/hsperfdata/writer.js';
import type { Writer } from '#app/hsperfdata/writer.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const BOOT_S = 1_700_000_000;
const UID = getuid?.() ?? 0;

describe('the process of a counter file', () => {
  const folder = temporaryFolder();

  /** A process in a folder that stands for /proc: its state, and its start in hundredths of a second. */
  function process(
    pid: number,
    state: string,
    startTicks: number,
    { name = 'java', threads = 1 } = {},
  ): void {
    mkdirSync(folder.path(`${pid}`), { recursive: true });
    const others = [...Array.from({ length: 16 }, (_, index) => index), threads, 0].join(' ');
    folder.write(`${pid}/stat`, `${pid} (${name}) ${state} ${others} ${startTicks} 0 0\n`);
    folder.write(
      `${pid}/status`,
      `Name:\t${name}\nUmask:\t0022\nUid:\t${UID}\t${UID}\t${UID}\t${UID}\n`,
    );
    folder.write('stat', `cpu 1 2 3\nbtime ${BOOT_S}\nprocesses 9\n`);
  }

  const writer = (more: Partial<Writer> = {}): Writer => ({
    ...{ pid: 7, startTicks: 500, uid: UID, inode: 4711n },
    beganUnixMs: BOOT_S * 1000 + 5200,
    ...more,
  });
  const why = (more: Partial<Writer> = {}) => whyNotWriter(writer(more), folder.path());

  for (const name of ['java', 'a) R 1 2 (b', 'with blank'])
    it(`is known by its start, whatever its name is: ${name}`, () => {
      process(7, 'S', 12_345, { name });
      expect(startTicksOf(7, folder.path())).to.equal(12_345);
    });

  for (const state of ['Z', 'X'])
    it(`is gone in the state ${state}, and where there is none`, () => {
      process(7, state, 5);
      expect(startTicksOf(7, folder.path())).to.equal(undefined);
      expect(startTicksOf(8, folder.path())).to.equal(undefined);
    });

  it('runs on after its first thread has ended, as that of a launcher does', () => {
    process(7, 'Z', 12_345, { threads: 18 });
    expect(startTicksOf(7, folder.path())).to.equal(12_345);
  });

  it('is the writer if it started before the JVM began, however long before', () => {
    process(7, 'S', 500);
    expect(why()).to.equal(undefined);
    expect(why({ startTicks: 0 })).to.equal(undefined);
    expect(why({ beganUnixMs: undefined })).to.equal(undefined);
  });

  it('is another one if it started long after the JVM began', () => {
    process(7, 'S', 500);
    expect(why({ startTicks: 100_000 })).to.equal('process 7 started later');
  });

  it('is the writer even then, if it has the file in its memory: the clock was set', () => {
    process(7, 'S', 500);
    const line = (inode: number) =>
      `7f00-7f08 rw-s 00000000 fe:00 ${inode}   /tmp/hsperfdata_shop/7\n`;
    writeFileSync(folder.path('7/maps'), `${'x'.repeat(70_000)}\n${line(4711)}`);
    expect(why({ startTicks: 100_000 })).to.equal(undefined);
    writeFileSync(folder.path('7/maps'), line(47_110));
    expect(why({ startTicks: 100_000 })).to.equal('process 7 started later');
  });

  it('is another one if it belongs to another user', () => {
    process(7, 'S', 500);
    expect(why({ uid: UID + 1 })).to.equal('process 7 is of another user');
    expect(why({ pid: 8 })).to.equal('process 8 is of another user');
  });
});
