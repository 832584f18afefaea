// Writes to stdout and stderr without blocking the event loop. Other programs may share these descriptors, so the
// flags of the descriptors must not change. Instead, a thread of libuv's pool makes each write, and may wait for
// the reader.
import { fstatSync, write } from 'node:fs';
import { exitNow } from '../native/os/libc.js';
import { RETRY_MS } from './print.js';

/** The maximum number of bytes in lines that wait for a slow reader. */
const MAX_LINE_BYTES = 1 << 20;
/** PIPE_BUF of Linux: a write of this many bytes to a pipe is atomic, so no other program's line comes in between. */
const MAX_BATCH_BYTES = 4096;
const NEWLINE = 0x0a;

/** Called after the last byte, or after the first failure. */
type Done = (error?: unknown) => void;

/** Buffers that are written one after the other, with nothing in between. */
interface Entry {
  readonly rest: Iterator<Uint8Array>;
  readonly done: Done;
}

/** Lines that one system call writes. */
interface Batch {
  text: string;
  bytes: number;
}

export class Output {
  readonly #fd: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #queue: Entry[] = [];
  #isWriting = false;
  /** The last entry of the queue, if it can take more lines. */
  #batch: Batch | undefined;
  #lineBytes = 0;
  /** Whether a failed write has left an incomplete line. */
  #isTorn = false;
  #onIdle: (() => void)[] = [];

  /** @param onFailure called after each failed write */
  constructor(fd: number, onFailure: (error: unknown) => void = () => undefined) {
    this.#fd = fd;
    this.#onFailure = onFailure;
  }

  /** Whether nothing waits for the reader. */
  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  /** Resolves as soon as nothing waits for the reader. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isIdle) resolve();
      else this.#onIdle.push(resolve);
    });
  }

  /** Writes a line. Drops it and returns false if too many bytes wait for the reader. */
  line(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (this.#lineBytes + bytes > MAX_LINE_BYTES) return false;
    this.#lineBytes += bytes;
    if (this.#batch !== undefined && this.#batch.bytes + bytes <= MAX_BATCH_BYTES) {
      this.#batch.text += text;
      this.#batch.bytes += bytes;
      return true;
    }
    const batch: Batch = { text, bytes };
    this.#batch = batch;
    this.#enqueue(this.#close(batch), () => {
      this.#lineBytes -= batch.bytes;
    });
    return true;
  }

  /** Writes buffers. Asks for the next buffer when the reader has taken the previous one. */
  write(buffers: Iterable<Uint8Array>, done: Done = () => undefined): void {
    this.#batch = undefined;
    this.#enqueue(buffers, done);
  }

  /** Closes a batch to further lines when the writer reaches it. */
  *#close(batch: Batch): Generator<Uint8Array> {
    if (this.#batch === batch) this.#batch = undefined;
    yield Buffer.from(batch.text);
  }

  #enqueue(buffers: Iterable<Uint8Array>, done: Done): void {
    this.#queue.push({ rest: buffers[Symbol.iterator](), done });
    if (!this.#isWriting) this.#begin();
  }

  #begin(): void {
    const [entry] = this.#queue;
    this.#isWriting = entry !== undefined;
    if (entry === undefined) for (const resolve of this.#onIdle.splice(0)) resolve();
    else if (this.#isTorn) this.#put(Buffer.from('\n'), entry);
    else this.#continue(entry);
  }

  #continue(entry: Entry): void {
    let next: IteratorResult<Uint8Array>;
    try {
      next = entry.rest.next();
    } catch (error) {
      this.#end(entry, error);
      return;
    }
    if (next.done === true) this.#end(entry);
    else this.#put(next.value, entry);
  }

  #put(bytes: Uint8Array, entry: Entry): void {
    write(this.#fd, bytes, 0, bytes.length, null, (error, count) => {
      if (error?.code === 'EAGAIN') setTimeout(() => this.#put(bytes, entry), RETRY_MS);
      else if (error !== null) this.#end(entry, error);
      else {
        if (count > 0) this.#isTorn = bytes[count - 1] !== NEWLINE;
        if (count < bytes.length) this.#put(bytes.subarray(count), entry);
        else this.#continue(entry);
      }
    });
  }

  #end(entry: Entry, error?: unknown): void {
    if (error === undefined) this.#isTorn = false;
    this.#queue.shift();
    entry.done(error);
    if (error !== undefined) this.#onFailure(error);
    this.#begin();
  }
}

const [STDOUT, STDERR] = [1, 2];

/** The standard outputs of a program that runs until a signal, and the end of its process. */
export class StandardOutputs {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly #program: NodeJS.Process;

  /** @param onFailure called after each failed write */
  constructor(program: NodeJS.Process, onFailure?: (error: unknown) => void) {
    this.#program = program;
    this.stdout = new Output(STDOUT, onFailure);
    // If stdout and stderr are the same file, they share a queue, so that no log line splits a document.
    this.stderr = isSame() ? this.stdout : new Output(STDERR, onFailure);
  }

  /**
   * Ends the process when its outputs have been written.
   * @param withinMs the time after which the process ends even with unwritten output
   */
  end(status: number, withinMs = Infinity): void {
    const outputs = [this.stdout, this.stderr];
    const program = this.#program;
    const exit = () => {
      if (outputs.every(({ isIdle }) => isIdle)) program.exit(status);
      // exit() would wait for the threads of libuv's pool, which wait for the reader.
      program.exitCode = status;
      program.emit('exit', status);
      exitNow(status);
    };
    void Promise.all(outputs.map((output) => output.idle())).then(exit);
    if (withinMs < Infinity) setTimeout(exit, withinMs);
  }
}

function isSame(): boolean {
  const [out, err] = [STDOUT, STDERR].map((fd) => fstatSync(fd, { bigint: true }));
  return out?.dev === err?.dev && out?.ino === err?.ino;
}
