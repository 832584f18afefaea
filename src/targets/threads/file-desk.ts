// Queries locks and waits for ticks on behalf of a thread, which has no foreign functions.
import { messageOf } from '../../errors.js';
import type { SegmentFile, SharedMemory } from '../../native/os/shared-memory.js';
import type { FileMessage, FileReply } from './messages.js';

interface Served {
  /** Undefined when the name is another file's by now. */
  readonly file: SegmentFile | undefined;
  /** Why it could not be opened; empty where it is, and where the name is another file's. */
  readonly failure: string;
  readonly waits: Map<number, () => void>;
}

export class FileDesk {
  readonly #memory: SharedMemory;
  readonly #reply: (reply: FileReply) => void;
  readonly #served = new Map<number, Served>();

  constructor(memory: SharedMemory, reply: (reply: FileReply) => void) {
    this.#memory = memory;
    this.#reply = reply;
  }

  hear(message: FileMessage): void {
    const { file } = message;
    if (message.kind === 'opened') {
      this.#served.set(file, { ...this.#open(message), waits: new Map() });
      return;
    }
    const served = this.#served.get(file);
    if (served === undefined) return;
    if (message.kind === 'ask-lock') this.#askLock(file, served);
    if (message.kind === 'end-wait') {
      served.waits.get(message.wait)?.();
      served.waits.delete(message.wait);
    }
    if (message.kind === 'closed') {
      this.#close(served);
      this.#served.delete(file);
    }
    if (message.kind === 'wait') {
      const { wait, position, expected } = message;
      const end = served.file?.wait(position, expected, () => {
        served.waits.delete(wait);
        this.#reply({ kind: 'moved', file, wait });
      });
      if (end !== undefined) served.waits.set(wait, end);
    }
  }

  /** Releases everything: the thread has ended. */
  close(): void {
    for (const served of this.#served.values()) this.#close(served);
    this.#served.clear();
  }

  #open({
    name,
    identity,
  }: Extract<FileMessage, { kind: 'opened' }>): Pick<Served, 'file' | 'failure'> {
    try {
      const file = this.#memory.open(name);
      if (file === undefined || file.identity === identity) return { file, failure: '' };
      file.close();
      return { file: undefined, failure: '' };
    } catch (error) {
      // The thread could open it a moment ago: it is not known whether anybody locks it.
      return { file: undefined, failure: messageOf(error) };
    }
  }

  #askLock(number: number, { file, failure }: Served): void {
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

  #close({ file, waits }: Served): void {
    for (const end of waits.values()) end();
    file?.close();
  }
}
