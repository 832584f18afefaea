// A folder of counter files, with processes that take the place of JVMs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  writeSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { HsperfdataPoller } from '#app/hsperfdata/hsperfdata-poller.js';
import type { HsperfdataPollerOptions } from '#app/hsperfdata/hsperfdata-poller.js';
import type { HsperfdataSettings } from '#app/hsperfdata/settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Creates a folder that is removed with all its processes after each test. */
export function perfFolder() {
  const folder = temporaryFolder();
  const running = new Set<ChildProcess>();
  const pollers = new Set<HsperfdataPoller>();
  afterEach(async () => {
    for (const poller of pollers) poller.close();
    pollers.clear();
    await Promise.all([...running].map((child) => killAndWait(child)));
    running.clear();
  });
  const directory = (user = 'shop'): string => join(folder.path('.'), `hsperfdata_${user}`);
  /** The path of a fake /proc, in which a test can set the maps of a process. */
  const proc = (...names: string[]): string => join(folder.path('.'), 'proc', ...names);
  beforeEach(() => {
    mkdirSync(proc());
    for (const name of ['stat', '1']) symlinkSync(`/proc/${name}`, proc(name));
  });
  return {
    directory,
    proc,
    /** Starts a process that runs until the test ends. */
    process: (): number => {
      const child = spawn('sleep', ['600'], { stdio: 'ignore' });
      running.add(child);
      const pid = String(child.pid);
      mkdirSync(proc(pid));
      for (const name of ['stat', 'status']) symlinkSync(`/proc/${pid}/${name}`, proc(pid, name));
      writeFileSync(proc(pid, 'maps'), '7f00-7f08 r--p 00000000 fe:00 12 /lib/libc.so.6\n');
      return child.pid ?? 0;
    },
    /** Makes a file the only one in the maps of a process. */
    map: (pid: number, path: string): void => {
      const { dev, ino } = statSync(path);
      const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
      const device = [major, minor].map((each) => each.toString(16).padStart(2, '0')).join(':');
      const line = `7f00-7f08 rw-s 00000000 ${device} ${ino}    ${path}\n`;
      writeFileSync(proc(String(pid), 'maps'), line);
    },
    /** Kills a process and waits for its exit. */
    kill: async (pid: number): Promise<void> => {
      const child = [...running].find((each) => each.pid === pid);
      if (child !== undefined) await killAndWait(child);
    },
    make: (user = 'shop', mode = 0o755): string => {
      mkdirSync(directory(user), { recursive: true });
      chmodSync(directory(user), mode);
      return directory(user);
    },
    /** Writes a complete file and maps it in the process. A file that exists already keeps its inode. */
    write(pid: number, bytes: Uint8Array, user = 'shop'): string {
      const path = this.writeUnmapped(pid, bytes, user);
      if (existsSync(proc(String(pid)))) this.map(pid, path);
      return path;
    },
    /** Writes a complete file that no process has mapped. */
    writeUnmapped(pid: number, bytes: Uint8Array, user = 'shop'): string {
      const path = join(this.make(user), String(pid));
      writeFileSync(path, bytes, { mode: 0o600 });
      return path;
    },
    /** Changes bytes of a file in place, as a JVM does. */
    poke(path: string, at: number, bytes: Uint8Array): void {
      const fd = openSync(path, 'r+');
      writeSync(fd, bytes, 0, bytes.length, at);
      closeSync(fd);
    },
    remove: (pid: number, user = 'shop'): void => {
      rmSync(join(directory(user), String(pid)));
    },
    poller(
      settings: Partial<HsperfdataSettings> = {},
      options: HsperfdataPollerOptions = {},
    ): HsperfdataPoller {
      const directories = [join(folder.path('.'), 'hsperfdata_*')];
      const all = { directories, containers: false, users: [], mainClasses: [], ...settings };
      const poller = new HsperfdataPoller('jvm', all, { proc: proc(), ...options });
      pollers.add(poller);
      return poller;
    },
  };
}

async function killAndWait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
