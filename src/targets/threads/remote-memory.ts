// Shared memory for a thread. The thread reads files itself; the main thread queries locks and waits for changes.
import { Fault } from '../../errors.js';
import { openReadable } from '../../native/os/shared-memory.js';
import type {
  Ownership,
  ReadableFile,
  SegmentFile,
  SharedMemory,
} from '../../native/os/shared-memory.js';
import type { FileMessage, FileReply } from './messages.js';

/** Opens the file of a segment for reading; undefined if there is none. */
export type OpenFile = (name: string) => Omit<ReadableFile, 'fd'> | undefined;

/** An open segment. Messages to the main thread identify it by its number. */
class RemoteFile implements SegmentFile {
  readonly #file: Omit<ReadableFile, 'fd'>;
  readonly #number: number;
  readonly #send: (message: FileMessage) => void;
  readonly #waits = new Map<number, () => void>();
  #lastWait = 0;
  #answer: ((isLocked: boolean) => void) | undefined;
  #refusal = '';

  constructor(
    file: Omit<ReadableFile, 'fd'>,
    number: number,
    send: (message: FileMessage) => void,
  ) {
    this.#file = file;
    this.#number = number;
    this.#send = send;
  }

  get identity(): string {
    return this.#file.identity;
  }

  get ownership(): Ownership {
    return this.#file.ownership;
  }

  read(into: Uint8Array, length: number, position: number): number {
    return this.#file.read(into, length, position);
  }

  size(): number {
    return this.#file.size();
  }

  nameHolder(): ReturnType<SegmentFile['nameHolder']> {
    return this.#file.nameHolder();
  }

  askLock(answer: (isLocked: boolean) => void): void {
    if (this.#refusal !== '') throw new Fault('NATIVE_FAILED', this.#refusal);
    // Send one query at a time. A later caller replaces the earlier one, and gets the answer to the open query.
    if (this.#answer === undefined) this.#send({ kind: 'ask-lock', file: this.#number });
    this.#answer = answer;
  }

  wait(position: number, expected: number, onChange: () => void): () => void {
    const wait = ++this.#lastWait;
    this.#waits.set(wait, onChange);
    this.#send({ kind: 'wait', file: this.#number, wait, position, expected });
    return () => {
      if (this.#waits.delete(wait)) this.#send({ kind: 'end-wait', file: this.#number, wait });
    };
  }

  close(): void {
    if (!this.#file.isOpen) return;
    this.#file.close();
    this.#waits.clear();
    this.#answer = undefined;
    this.#send({ kind: 'closed', file: this.#number });
  }

  handle(reply: FileReply): void {
    if (reply.kind === 'woken') {
      const onChange = this.#waits.get(reply.wait);
      this.#waits.delete(reply.wait);
      onChange?.();
      return;
    }
    const answer = this.#answer;
    this.#answer = undefined;
    if (reply.kind === 'lock') answer?.(reply.isLocked);
    else this.#refusal = reply.reason;
  }
}

export class RemoteMemory implements SharedMemory {
  readonly #send: (message: FileMessage) => void;
  readonly #open: OpenFile;
  readonly #files = new Map<number, RemoteFile>();
  #lastNumber = 0;

  constructor(send: (message: FileMessage) => void, open: OpenFile = openReadable) {
    this.#send = send;
    this.#open = open;
  }

  open(name: string): SegmentFile | undefined {
    const file = this.#open(name);
    if (file === undefined) return undefined;
    const number = ++this.#lastNumber;
    const remote = new RemoteFile(file, number, (message) => {
      if (message.kind === 'closed') this.#files.delete(number);
      this.#send(message);
    });
    this.#files.set(number, remote);
    this.#send({ kind: 'opened', file: number, name, identity: file.identity });
    return remote;
  }

  handle(reply: FileReply): void {
    this.#files.get(reply.file)?.handle(reply);
  }
}
