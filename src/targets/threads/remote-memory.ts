// Shared memory for a thread, which cannot call foreign functions. The thread reads files itself. The main thread
// queries locks and waits for notifications on behalf of the thread.
import { Fault, messageOf } from '../../errors.js';
import { openReadable } from '../../native/os/shared-memory.js';
import type { SegmentFile, SharedMemory } from '../../native/os/shared-memory.js';

/** The requests of a thread about its open segments. */
export type FileMessage =
  | {
      readonly kind: 'opened';
      readonly file: number;
      readonly name: string;
      readonly identity: string;
    }
  | { readonly kind: 'ask-lock'; readonly file: number }
  | {
      readonly kind: 'wait';
      readonly file: number;
      readonly wait: number;
      readonly position: number;
      readonly expected: number;
    }
  | { readonly kind: 'end-wait'; readonly file: number; readonly wait: number }
  | { readonly kind: 'closed'; readonly file: number };

/** The replies of the main thread to a `FileMessage`. */
export type FileReply =
  | { readonly kind: 'lock'; readonly file: number; readonly isLocked: boolean }
  /** The state of the lock is unknown. */
  | { readonly kind: 'no-lock'; readonly file: number; readonly reason: string }
  | { readonly kind: 'woken'; readonly file: number; readonly wait: number };

/** Opens the file of a segment for reading; undefined if there is none. */
export type OpenFile = (name: string) => Omit<SegmentFile, 'askLock' | 'wait'> | undefined;

/** The part in the thread. Messages to the main thread identify an open segment by its number. */
export class RemoteMemory implements SharedMemory {
  readonly #send: (message: FileMessage) => void;
  readonly #open: OpenFile;
  /** What handles the replies about each open segment. */
  readonly #handlers = new Map<number, (reply: FileReply) => void>();
  #lastFile = 0;
  #lastWait = 0;

  constructor(send: (message: FileMessage) => void, open: OpenFile = openReadable) {
    this.#send = send;
    this.#open = open;
  }

  open(name: string): SegmentFile | undefined {
    const opened = this.#open(name);
    if (opened === undefined) return undefined;
    const file = ++this.#lastFile;
    const waits = new Map<number, () => void>();
    let answer: ((isLocked: boolean) => void) | undefined;
    let failure = '';
    this.#handlers.set(file, (reply) => {
      if (reply.kind === 'woken') {
        const onChange = waits.get(reply.wait);
        waits.delete(reply.wait);
        onChange?.();
        return;
      }
      const waiting = answer;
      answer = undefined;
      if (reply.kind === 'lock') waiting?.(reply.isLocked);
      else failure = reply.reason;
    });
    this.#send({ kind: 'opened', file, name, identity: opened.identity });
    return {
      ...opened,
      askLock: (next) => {
        if (failure !== '') throw new Fault('NATIVE_FAILED', failure);
        // Send one query at a time. A later caller replaces the earlier one, and gets the answer to the open query.
        if (answer === undefined) this.#send({ kind: 'ask-lock', file });
        answer = next;
      },
      wait: (position, expected, onChange) => {
        const wait = ++this.#lastWait;
        waits.set(wait, onChange);
        this.#send({ kind: 'wait', file, wait, position, expected });
        return () => {
          if (waits.delete(wait)) this.#send({ kind: 'end-wait', file, wait });
        };
      },
      close: () => {
        opened.close();
        waits.clear();
        if (this.#handlers.delete(file)) this.#send({ kind: 'closed', file });
      },
    };
  }

  handle(reply: FileReply): void {
    this.#handlers.get(reply.file)?.(reply);
  }
}

interface ProxiedFile {
  /** Undefined if the file could not be opened, or if the name now belongs to another file. */
  readonly file: SegmentFile | undefined;
  /** The reason why the file could not be opened; empty otherwise. */
  readonly failure: string;
  readonly waits: Map<number, () => void>;
}

/** The part in the main thread: opens the same files, and answers the messages of the thread. */
export class FileProxy {
  readonly #memory: SharedMemory;
  readonly #reply: (reply: FileReply) => void;
  readonly #files = new Map<number, ProxiedFile>();

  constructor(memory: SharedMemory, reply: (reply: FileReply) => void) {
    this.#memory = memory;
    this.#reply = reply;
  }

  handle(message: FileMessage): void {
    const { file } = message;
    if (message.kind === 'opened') {
      this.#files.set(file, { ...this.#open(message), waits: new Map() });
      return;
    }
    const proxied = this.#files.get(file);
    if (proxied === undefined) return;
    if (message.kind === 'ask-lock') this.#askLock(file, proxied);
    if (message.kind === 'end-wait') {
      proxied.waits.get(message.wait)?.();
      proxied.waits.delete(message.wait);
    }
    if (message.kind === 'closed') {
      this.#close(proxied);
      this.#files.delete(file);
    }
    if (message.kind === 'wait') {
      const { wait, position, expected } = message;
      const end = proxied.file?.wait(position, expected, () => {
        proxied.waits.delete(wait);
        this.#reply({ kind: 'woken', file, wait });
      });
      if (end !== undefined) proxied.waits.set(wait, end);
    }
  }

  /** Closes all files, after the end of the thread. */
  close(): void {
    for (const proxied of this.#files.values()) this.#close(proxied);
    this.#files.clear();
  }

  #open({
    name,
    identity,
  }: Extract<FileMessage, { kind: 'opened' }>): Pick<ProxiedFile, 'file' | 'failure'> {
    try {
      const file = this.#memory.open(name);
      if (file?.identity === identity) return { file, failure: '' };
      file?.close();
      return { file: undefined, failure: '' };
    } catch (error) {
      // The thread has just opened this file, so it exists. Report its lock as unknown, not as free.
      return { file: undefined, failure: messageOf(error) };
    }
  }

  #askLock(number: number, { file, failure }: ProxiedFile): void {
    const answer = (isLocked: boolean) => {
      this.#reply({ kind: 'lock', file: number, isLocked });
    };
    try {
      if (failure !== '') this.#reply({ kind: 'no-lock', file: number, reason: failure });
      else if (file === undefined) answer(false);
      else file.askLock(answer);
    } catch (error) {
      this.#reply({ kind: 'no-lock', file: number, reason: messageOf(error) });
    }
  }

  #close({ file, waits }: ProxiedFile): void {
    for (const end of waits.values()) end();
    file?.close();
  }
}
