// Queries locks and waits for notifications on behalf of a thread, which cannot call foreign functions.
import { messageOf } from '../../errors.js';
import type { SegmentFile, SharedMemory } from '../../native/os/shared-memory.js';
import type { FileMessage, FileReply } from './messages.js';

interface ProxiedFile {
  /** Undefined if the name now belongs to another file. */
  readonly file: SegmentFile | undefined;
  /** The reason why the file could not be opened; empty otherwise. */
  readonly failure: string;
  readonly waits: Map<number, () => void>;
}

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
