// Builds directories of metric files for pollers with a clock that a test sets.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { deviceText } from '#app/foreign/verified-file.js';
import { multiprocessPollers } from '#app/multiprocess/multiprocess-poller.js';
import type { MultiprocessPollerOptions } from '#app/multiprocess/multiprocess-poller.js';
import { MULTIPROCESS_SETTINGS } from '#app/multiprocess/settings.js';
import type { MultiprocessSettings } from '#app/multiprocess/settings.js';
import { defaultsOf } from '#app/rules/table.js';
import type { Poller } from '#app/streams/poller.js';
import { SetClocks, pollAll } from '../support/polled-values.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeFakeProcess } from '../varnish/fake-process.js';
import { fileBytes, pythonKey } from './metric-bytes.js';
import type { Entry } from './metric-bytes.js';
import { pageOf } from './shown-page.js';

export const count = (value: number, labels: Readonly<Record<string, string>> = {}): Entry => ({
  key: pythonKey('req', 'req_total', labels),
  value,
});
export const level = (value: number, time = 0): Entry => ({ key: pythonKey('level'), value, time });

/** Call inside `describe`: gives each test a folder with an empty directory `shop` and a fake /proc. */
export function metricFolder() {
  const folder = temporaryFolder();
  let pollers: Poller[] = [];
  let clocks = new SetClocks();
  beforeEach(() => {
    clocks = new SetClocks();
    mkdirSync(folder.path('shop'), { mode: 0o755 });
    mkdirSync(folder.path('proc'));
  });
  afterEach(() => {
    for (const poller of pollers) poller.close();
    pollers = [];
  });
  return {
    folder,
    pass: (ms: number): void => {
      clocks.ms += ms;
    },
    poller: (
      own: Partial<MultiprocessSettings> = {},
      options: MultiprocessPollerOptions = {},
    ): Poller => {
      const directories = [folder.path('shop')];
      const settings = { ...defaultsOf(MULTIPROCESS_SETTINGS), directories, ...own, app: 'shop' };
      const all = { clocks, proc: folder.path('proc'), ...options };
      const poller = multiprocessPollers(settings, all)('web.1');
      pollers.push(poller);
      return poller;
    },
    /** Writes a file in place; its name is in `shop` unless it has a folder. */
    write: (name: string, entries: readonly Entry[], stride: 8 | 16 = 16): string => {
      const path = folder.path(name.includes('/') ? name : `shop/${name}`);
      writeFileSync(path, fileBytes(entries, stride, 4096), { mode: 0o644 });
      return path;
    },
    /** The lines of the page that begin with a text. */
    lines: (poller: Poller, start: string): readonly string[] =>
      pageOf(poller)
        .page.split('\n')
        .filter((line) => line.startsWith(start)),
    reasonOf: (poller: Poller): string => folder.bare(pollAll(poller).publisher.reason),
    /** Adds a process to the fake /proc that has mapped files. */
    process: (pid: number, mapped: readonly string[], startS = 1000): void => {
      writeFakeProcess(folder.path('proc'), pid, startS, 'python');
      const own = folder.path(`proc/${pid}`);
      const fields = ['1 2 3 4 5 6 7 8 9 10 150 50 13 14 15 16 4 18', startS * 100, '8192 3'];
      writeFileSync(`${own}/stat`, `${pid} (a ) b) S ${fields.join(' ')} 0\n`);
      const maps = mapped.map((path) => {
        const { dev, ino } = statSync(path, { bigint: true });
        return `7f00-7f01 rw-s 00000000 ${deviceText(dev)} ${ino} ${path}\n`;
      });
      writeFileSync(
        `${own}/maps`,
        `00400000-0040b000 r-xp 00000000 fe:00 1 /bin/x\n${maps.join('')}`,
      );
      writeFileSync(
        `${own}/limits`,
        'Max open files            1024                 4096   files\n',
      );
      mkdirSync(`${own}/fd`, { recursive: true });
      for (const fd of [0, 1, 2]) writeFileSync(`${own}/fd/${fd}`, '');
    },
    /** Lets a process hold the lock of a file. */
    lock: (pid: number, path: string): void => {
      const { dev, ino } = statSync(path, { bigint: true });
      const line = `1: FLOCK  ADVISORY  WRITE ${pid} ${deviceText(dev)}:${ino} 0 EOF\n`;
      writeFileSync(folder.path('proc/locks'), line);
    },
  };
}
