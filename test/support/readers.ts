// Descriptors for stdout and stderr whose readers never read, or read late.
import ffi from 'ffi-napi';
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uniqueName } from './test-run.js';

const libc = ffi.Library(null, {
  pipe2: ['int', ['pointer', 'int']],
  socketpair: ['int', ['int', 'int', 'int', 'pointer']],
  send: ['long', ['int', 'pointer', 'size_t', 'int']],
  fcntl: ['int', ['int', 'int', 'int']],
  grantpt: ['int', ['int']],
  unlockpt: ['int', ['int']],
  ptsname: ['string', ['int']],
});
const [AF_UNIX, SOCK_STREAM] = [1, 1];
const MSG_DONTWAIT = 0x40;
const F_SETPIPE_SZ = 1031;
const PIPE_BYTES = 4096;
const CTRL_S = '\u0013';
const CTRL_Q = '\u0011';

export interface Reader {
  /** The descriptor that the program writes to. */
  readonly fd: number;
  /** Returns the output that has not been read yet, without waiting. */
  read(): string;
  /** Makes the next write wait: fills the descriptor, or stops the terminal. */
  stop(): void;
  /** Lets a stopped terminal continue. */
  go(): void;
  close(): void;
}

/** The flags of an open file. All programs that inherited the file share them. */
export const flagsOf = (fd: number): number =>
  parseInt(/^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '', 8);

/** Reads everything that a non-blocking descriptor holds. */
function readAll(fd: number): string {
  const parts: Buffer[] = [];
  try {
    for (let count = 1; count > 0;) {
      const part = Buffer.alloc(65_536);
      count = readSync(fd, part);
      parts.push(part.subarray(0, count));
    }
  } catch (error) {
    if (!['EAGAIN', 'EIO', 'ECONNRESET'].includes(String((error as NodeJS.ErrnoException).code)))
      throw error;
  }
  return Buffer.concat(parts).toString();
}

/** Opens the file of a descriptor again, so that the new descriptor has its own flags. */
const again = (fd: number, flags: number): number =>
  openSync(`/proc/self/fd/${fd}`, flags | constants.O_NONBLOCK | constants.O_NOCTTY);

/** Writes until the descriptor would block. */
function fill(write: (bytes: Buffer<ArrayBuffer>) => number): void {
  const bytes = Buffer.alloc(1024, '.');
  try {
    while (write(bytes) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
}

const madeBy = (call: (pair: Buffer<ArrayBuffer>) => unknown): readonly [number, number] => {
  const pair = Buffer.alloc(8);
  if (call(pair) !== 0) throw new Error(`errno ${ffi.errno()}`);
  return [pair.readInt32LE(0), pair.readInt32LE(4)];
};

function pipeReader(from: number, fd: number): Reader {
  libc.fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
  const reading = again(from, constants.O_RDONLY);
  closeSync(from);
  return {
    fd,
    read: () => readAll(reading),
    stop: () => {
      const writing = again(fd, constants.O_WRONLY);
      fill((bytes) => writeSync(writing, bytes));
      closeSync(writing);
    },
    go: () => undefined,
    close: () => {
      closeSync(reading);
      closeSync(fd);
    },
  };
}

function fifoReader(): Reader {
  const path = join(tmpdir(), uniqueName());
  spawnSync('mkfifo', [path]);
  const from = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const reader = pipeReader(from, openSync(path, 'w'));
  rmSync(path);
  return reader;
}

function socketReader(): Reader {
  const [from, fd] = madeBy((pair) => libc.socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  libc.fcntl(from, 4, constants.O_NONBLOCK);
  return {
    fd,
    read: () => readAll(from),
    stop: () => {
      fill((bytes) => Number(libc.send(fd, bytes, bytes.length, MSG_DONTWAIT)));
    },
    go: () => undefined,
    close: () => {
      closeSync(from);
      closeSync(fd);
    },
  };
}

/**
 * @param stop types the keys that stop the terminal. It is called before the terminal is filled, because
 * the system may handle the keys late.
 */
function terminal(stop: (keyboard: number) => void): Reader {
  const { O_RDWR, O_NOCTTY, O_NONBLOCK } = constants;
  const master = openSync('/dev/ptmx', O_RDWR | O_NOCTTY | O_NONBLOCK);
  libc.grantpt(master);
  libc.unlockpt(master);
  const fd = openSync(libc.ptsname(master) ?? '', O_RDWR | O_NOCTTY);
  return {
    fd,
    read: () => readAll(master).replaceAll('\r\n', '\n'),
    stop: () => {
      stop(master);
      const writing = again(fd, constants.O_WRONLY);
      fill((bytes) => writeSync(writing, bytes));
      closeSync(writing);
    },
    go: () => {
      writeSync(master, CTRL_Q);
    },
    close: () => {
      closeSync(fd);
      closeSync(master);
    },
  };
}

/** Functions that create readers, by a description of the reader. */
export const READERS: Readonly<Record<string, () => Reader>> = {
  'a pipe that is not read': () => pipeReader(...madeBy((pair) => libc.pipe2(pair as never, 0))),
  'a named pipe that is not read': fifoReader,
  'a socket that is not read': socketReader,
  'a terminal that is not read': () => terminal(() => undefined),
  'a terminal stopped by Ctrl-S': () =>
    terminal((keyboard) => {
      writeSync(keyboard, CTRL_S);
    }),
};
