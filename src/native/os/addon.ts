// The system calls of a publisher, by the Node-API addon of the npm package (sdk/typescript/addon.c).
import { existsSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { Fault, messageOf } from '../../errors.js';
import { codeFolders } from './code-folders.js';
import type { Mapping } from './publisher-os.js';

const PACKAGE = 'shm-publisher';
const EAGAIN = 11;

/** The functions of the addon. Those that return a number return 0 or an errno, except `start`. */
interface Addon {
  readonly map: (fd: number, length: number) => ArrayBuffer | number;
  /** The offset of the mapped file in its ArrayBuffer. */
  readonly start: (memory: ArrayBuffer) => number;
  readonly remap: (memory: ArrayBuffer, fd: number) => number;
  readonly unmap: (memory: ArrayBuffer) => number;
  readonly lock: (fd: number) => number;
  /** EAGAIN if another open file description holds a write lock. */
  readonly queryLock: (fd: number) => number;
  readonly link: (from: string, to: string) => number;
  readonly setMode: (fd: number, mode: number) => number;
  readonly allocate: (fd: number, offset: number, length: number) => number;
  readonly wake: (word: Uint8Array) => number;
}

let loaded: Addon | undefined;

/** Loads the addon at the first call, so that an import succeeds on other systems too. */
function addon(): Addon {
  if (loaded !== undefined) return loaded;
  const file = addonFile();
  const module: { exports: Partial<Addon> } = { exports: {} };
  try {
    // Bundlers replace calls of `require`, but not this one.
    process.dlopen(module, file);
  } catch (error) {
    throw new Fault('NATIVE_FAILED', `Cannot load ${file}: ${messageOf(error)}`, { cause: error });
  }
  return (loaded = module.exports as Addon);
}

/**
 * Finds the addon beside this module. If a bundle contains this module, the addon is beside the bundle, or in the
 * package, which may be installed where the bundle or the program is.
 */
function addonFile(): string {
  const system = `${platform()}-${arch()}`;
  const name = join('prebuilds', `${system}.node`);
  const folders = codeFolders(import.meta.url);
  const installed = folders.flatMap(parents).map((each) => join(each, 'node_modules', PACKAGE));
  const found = [...folders, ...installed].find((each) => existsSync(join(each, name)));
  if (found !== undefined) return join(found, name);
  const remedy = ['linux-x64', 'linux-arm64'].includes(system)
    ? `copy the folder prebuilds of ${PACKAGE} beside the bundle, or leave the package out of the bundle`
    : 'segments need Linux on x64 or arm64';
  throw new Fault('NATIVE_FAILED', `${join(folders[1] ?? '', name)} is missing: ${remedy}`);
}

/** A folder and the folders that contain it. */
function parents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...parents(parent)];
}

export function map(fd: number, length: number): Mapping {
  const memory = addon().map(fd, length);
  if (typeof memory === 'number')
    throw new Fault('NATIVE_FAILED', `mmap of ${length} bytes failed with errno ${memory}`);
  let isMapped = true;
  return {
    bytes: Buffer.from(memory, addon().start(memory), length),
    remap(other) {
      const errno = addon().remap(memory, other);
      if (errno !== 0)
        throw new Fault('NATIVE_FAILED', `mmap of another file failed with errno ${errno}`);
    },
    unmap() {
      if (isMapped) addon().unmap(memory);
      isMapped = false;
    },
  };
}

export const tryLock = (fd: number): boolean => addon().lock(fd) === 0;

export function isLocked(fd: number): boolean {
  const code = addon().queryLock(fd);
  if (code !== 0 && code !== EAGAIN)
    throw new Fault('NATIVE_FAILED', `fcntl(F_OFD_GETLK) failed with errno ${code}`);
  return code === EAGAIN;
}

export const linkOpen = (fd: number, path: string): number =>
  addon().link(`/proc/self/fd/${fd}`, path);

export const setMode = (fd: number, mode: number): number => addon().setMode(fd, mode);

export const allocate = (fd: number, offset: number, length: number): number =>
  addon().allocate(fd, offset, length);

export function futexWake(word: Buffer): void {
  addon().wake(word);
}

/** Does nothing: when a thread ends, the addon frees the memory of its mappings. */
export const replaceMappings = (): void => undefined;
