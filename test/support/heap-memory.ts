// Shared memory in buffers: tests change, truncate and replace its segments at any moment.
import { Fault } from '#app/errors.js';
import type { SegmentFile, SharedMemory } from '#app/native/os/shared-memory.js';

/** The bytes of one segment. What is done to it shows in the files that are open on it. */
let made = 0;

export class HeapSegment {
  readonly number = ++made;
  bytes: Buffer;
  ownership = { uid: 0, isWritableByAll: false };
  isLocked = true;
  /** How the question for the lock is answered: at once, unless a test says otherwise. */
  askLock: SegmentFile['askLock'] = (answer) => answer(this.isLocked);
  /** Reads so far, and the bytes that they asked for. */
  reads = 0;
  bytesAsked = 0;
  /** Runs before every read: the place to change something at that very moment. */
  beforeRead: () => void = () => undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes);
  }

  alter(position: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, position);
  }

  truncate(length: number): void {
    this.bytes = this.bytes.subarray(0, length);
  }

  read(into: Uint8Array, length: number, position: number): number {
    this.beforeRead();
    this.reads++;
    this.bytesAsked += length;
    const found = this.bytes.subarray(position, position + length);
    into.set(found);
    return found.length;
  }
}

export class HeapMemory implements SharedMemory {
  readonly #segments = new Map<string, HeapSegment>();
  readonly #refusals = new Map<string, string>();
  /** Files that are open now: whoever opens one is to close it. */
  openFiles = 0;

  /** Gives `name` to new bytes; a segment that had the name is open to its readers on. */
  put(name: string, bytes: Uint8Array): HeapSegment {
    const segment = new HeapSegment(bytes);
    this.#segments.set(name, segment);
    return segment;
  }

  remove(name: string): void {
    this.#segments.delete(name);
  }

  /** Makes `open` fail as the system does that has a file and will not open it. */
  refuse(name: string, reason: string): void {
    this.#refusals.set(name, reason);
  }

  admit(name: string): void {
    this.#refusals.delete(name);
  }

  open(name: string): SegmentFile | undefined {
    const refusal = this.#refusals.get(name);
    if (refusal !== undefined) throw new Fault('NATIVE_FAILED', `Cannot open ${name}: ${refusal}`);
    const segment = this.#segments.get(name);
    if (segment === undefined) return undefined;
    let isOpen = true;
    this.openFiles++;
    return {
      identity: String(segment.number),
      ownership: segment.ownership,
      read: (into, length, position) => (isOpen ? segment.read(into, length, position) : 0),
      size: () => (isOpen ? segment.bytes.length : 0),
      nameHolder: () => {
        const holder = this.#segments.get(name);
        if (!isOpen || holder === undefined) return 'none';
        return holder === segment ? 'this' : 'another';
      },
      askLock: (answer) => {
        if (isOpen) segment.askLock(answer);
      },
      wait: () => () => undefined,
      close: () => {
        if (isOpen) this.openFiles--;
        isOpen = false;
      },
    };
  }
}
