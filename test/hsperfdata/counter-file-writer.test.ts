// Tests how a reader checks whether a process can be the JVM that wrote a counter file.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { getuid } from 'node:process';
import { expect } from 'chai';
import { startTicksOf } from '#app/foreign/processes.js';
import { isJvmOf } from '#app/hsperfdata/counter-file-writer.js';
import type { Writer } from '#app/hsperfdata/counter-file-writer.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const BOOT_S = 1_700_000_000;
const UID = getuid?.() ?? 0;

describe('A process that may write a counter file', () => {
  const folder = temporaryFolder();

  /** Writes a process to a fake /proc. `startTicks` is in hundredths of a second since boot. */
  function process(
    pid: number,
    state: string,
    startTicks: number,
    { name = 'java', threads = 1, more = '' } = {},
  ): void {
    mkdirSync(folder.path(`${pid}`), { recursive: true });
    const others = [...Array.from({ length: 16 }, (_, index) => index), threads, 0].join(' ');
    folder.write(`${pid}/stat`, `${pid} (${name}) ${state} ${others} ${startTicks} 0 0\n`);
    folder.write(
      `${pid}/status`,
      `Name:\t${name}\nUmask:\t0022\nUid:\t${UID}\t${UID}\t${UID}\t${UID}\n${more}`,
    );
    folder.write('stat', `cpu 1 2 3\nbtime ${BOOT_S}\nprocesses 9\n`);
  }

  const writer = (more: Partial<Writer> = {}): Writer => ({
    ...{ pid: 7, name: '7', startTicks: 500, uid: UID, device: 'fe:00', inode: 4711n },
    jvmStartUnixMs: BOOT_S * 1000 + 5200,
    ...more,
  });
  const is = (more: Partial<Writer> = {}) => isJvmOf(writer(more), folder.path());

  for (const name of ['java', 'a) R 1 2 (b', 'with blank'])
    it(`with the command name "${name}" has the right start time`, () => {
      process(7, 'S', 12_345, { name });
      expect(startTicksOf(7, folder.path())).to.equal(12_345);
    });

  for (const state of ['Z', 'X'])
    it(`has ended if its state is ${state}, or if the process does not exist`, () => {
      process(7, state, 5);
      expect(startTicksOf(7, folder.path())).to.equal(undefined);
      expect(startTicksOf(8, folder.path())).to.equal(undefined);
    });

  it('still runs after its main thread has ended, for example in a launcher', () => {
    process(7, 'Z', 12_345, { threads: 18 });
    expect(startTicksOf(7, folder.path())).to.equal(12_345);
  });

  it('may be the writer if it started before the JVM began, however long before', () => {
    process(7, 'S', 500);
    expect(is()).to.equal('perhaps');
    expect(is({ startTicks: 0 })).to.equal('perhaps');
    expect(is({ jvmStartUnixMs: undefined })).to.equal('perhaps');
  });

  it('is not the writer if it started long after the JVM began', () => {
    process(7, 'S', 500);
    expect(is({ startTicks: 100_000 })).to.equal('no');
  });

  it('is not the writer if it started long after the JVM began, even if /proc states no boot time', () => {
    const startTicks = Math.floor(uptime() * 100);
    process(7, 'S', startTicks);
    rmSync(folder.path('stat'));
    const began = (secondsAgo: number) => ({ jvmStartUnixMs: Date.now() - secondsAgo * 1000 });
    expect(is({ startTicks, ...began(60) })).to.equal('no');
    expect(is({ startTicks, ...began(0) })).to.equal('perhaps');
  });

  const line = (inode: number, device = 'fe:00') =>
    `7f00-7f08 rw-s 00000000 ${device} ${inode}   /tmp/hsperfdata_shop/7\n`;

  it('is the writer if it maps the file, even if its start time is later because the clock was set', () => {
    process(7, 'S', 500);
    writeFileSync(folder.path('7/maps'), `${'x'.repeat(70_000)}\n${line(4711)}`);
    expect(is({ startTicks: 100_000 })).to.equal('yes');
  });

  it('is not the writer if it maps another file, even if it started before the JVM began', () => {
    process(7, 'S', 500);
    mkdirSync(folder.path('7/task'));
    for (const other of [line(47_110), line(4711, 'fe:01'), '']) {
      writeFileSync(folder.path('7/maps'), other);
      expect(is()).to.equal('no');
    }
    writeFileSync(folder.path('7/maps'), line(4711, 'fe:01'));
    expect(is({ device: undefined }), 'where devices differ').to.equal('yes');
  });

  it('is the writer if another thread maps the file after the main thread has ended', () => {
    process(7, 'Z', 500, { threads: 2 });
    for (const thread of ['7', '8'])
      mkdirSync(folder.path(`7/task/${thread}`), { recursive: true });
    for (const maps of ['7/maps', '7/task/7/maps']) writeFileSync(folder.path(maps), '');
    writeFileSync(folder.path('7/task/8/maps'), line(4711));
    expect(is()).to.equal('yes');
  });

  it('is not the writer if it has another PID in its own PID namespace', () => {
    process(7, 'S', 500, { more: 'NSpid:\t7\t12\t1\n' });
    expect(is()).to.equal('no');
    expect(is({ name: '1' })).to.equal('perhaps');
  });

  it('is not the writer if it has a single thread and unreadable maps', () => {
    process(7, 'S', 500, { more: 'Threads:\t1\n' });
    expect(is()).to.equal('no');
    process(7, 'S', 500, { more: 'Threads:\t19\n' });
    expect(is()).to.equal('perhaps');
  });

  it('is the writer if it holds the lock of the file and has unreadable maps', () => {
    process(7, 'S', 500);
    const lock = (pid: number) => `3: FLOCK  ADVISORY  WRITE ${pid} fe:00:4711 0 EOF\n`;
    folder.write('locks', `1: POSIX  ADVISORY  WRITE 9 fe:00:4711 0 EOF\n${lock(812)}`);
    expect(is()).to.equal('no');
    folder.write('locks', lock(7));
    expect(is({ startTicks: 100_000 })).to.equal('yes');
  });

  it('is not the writer if it belongs to another user', () => {
    process(7, 'S', 500);
    expect(is({ uid: UID + 1 })).to.equal('no');
    expect(is({ pid: 8 })).to.equal('no');
  });
});
