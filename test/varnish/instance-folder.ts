// A folder of generated Varnish instances, with fake processes as their managers.
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { VarnishPoller } from '#app/varnish/varnish-poller.js';
import type { VarnishPollerOptions } from '#app/varnish/varnish-poller.js';
import type { VarnishSettings } from '#app/varnish/settings.js';
import { SetClocks } from '../support/polled-values.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { BuiltDirectory, schemaJson } from './built-instance.js';
import type { BuiltSegment } from './built-instance.js';
import { BOOT_S, writeFakeProcess } from './fake-process.js';

/** Ids of schemas. In Varnish they are addresses in the writing process. */
export const IDS = { mgt: 0x5611_2233_0010n, main: 0x5611_2233_0020n, vbe: 0x5611_2233_0030n };
export const BIRTH = BOOT_S + 1000;

export const MGT = schemaJson('mgt', [
  { name: 'uptime', format: 'duration' },
  { name: 'child_panic' },
]);
export const MAIN = schemaJson('main', [
  { name: 'uptime', format: 'duration' },
  { name: 'client_req' },
  { name: 'n_object', type: 'gauge' },
  { name: 's_req_hdrbytes', format: 'bytes' },
]);
export const VBE = schemaJson('vbe', [
  { name: 'happy', type: 'bitmap', format: 'bitmap' },
  { name: 'req' },
]);

export interface BuiltInstance {
  readonly path: string;
  readonly manager: BuiltDirectory;
  readonly child: BuiltDirectory;
  readonly mgt: BuiltSegment;
  readonly main: BuiltSegment;
}

export function instanceFolder() {
  const folder = temporaryFolder();
  const clocks = new SetClocks();
  const pollers = new Set<VarnishPoller>();
  afterEach(() => {
    for (const poller of pollers) poller.close();
    pollers.clear();
  });
  const path = (name: string): string => folder.path(`all/${name}`);
  const proc = (pid: number): string => folder.path(`proc/${pid}`);
  return {
    path,
    clocks,
    /** Adds a process to the fake /proc. `startS` is in seconds since boot. */
    process(pid: number, startS = 900, name = 'varnishd'): void {
      writeFakeProcess(folder.path('proc'), pid, startS, name);
    },
    /** Makes the manager's lock on a work directory the only lock of the system. */
    lock(directory: string, pid: number): void {
      writeFileSync(`${directory}/_.pid`, String(pid));
      const { ino } = statSync(`${directory}/_.pid`, { bigint: true });
      const line = `1: FLOCK  ADVISORY  WRITE ${pid} fe:00:${ino} 0 EOF\n`;
      writeFileSync(folder.path('proc/locks'), line);
    },
    kill(pid: number): void {
      rmSync(proc(pid), { recursive: true });
    },
    /** Writes an instance with the counters of its manager and its child. */
    instance(name = 'shop', pid = 4711): BuiltInstance {
      rmSync(path(name), { recursive: true, force: true });
      mkdirSync(path(name), { recursive: true });
      const writer = { pid, birth: BIRTH };
      const manager = new BuiltDirectory(`${path(name)}/_.vsm_mgt`, writer);
      manager.schema(IDS.mgt, MGT);
      const mgt = manager.values('MGT', IDS.mgt, [10n, 0n]);
      return { path: path(name), manager, mgt, ...this.child(name, pid + 1) };
    },
    /** Rewrites the directory of the child process. */
    child(name = 'shop', pid = 4712): Pick<BuiltInstance, 'child' | 'main'> {
      const own = `${path(name)}/_.vsm_child`;
      rmSync(own, { recursive: true, force: true });
      const child = new BuiltDirectory(own, { pid, birth: BIRTH + 1 });
      child.schema(IDS.main, MAIN);
      const main = child.values('MAIN', IDS.main, [9n, 1000n, 7n, 123_456n]);
      child.schema(IDS.vbe, VBE);
      return { child, main };
    },
    poller(
      settings: Partial<VarnishSettings> = {},
      options: VarnishPollerOptions = {},
      serverKey = 'shop',
    ): VarnishPoller {
      const all = { directory: folder.path('all'), names: 'compat', ...settings } as const;
      const own = { clocks, proc: folder.path('proc'), ...options };
      const poller = new VarnishPoller(serverKey, all, own);
      pollers.add(poller);
      return poller;
    },
  };
}
