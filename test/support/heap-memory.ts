// Shared memory in buffers. Tests can change, truncate and replace its segments at any moment.
import { Fault } from '#app/errors.js';
import type { SegmentFile, SharedMemory } from '#app/native/os/shared-memory.js';

let count = 0;

/** The bytes of one segment. Readers that have it open see every change. */
export class HeapSegment {
  readonly number = ++count;
  bytes: Buffer;
  ownership = { uid: 0, isWritableByAll: false };
  isLocked = true;
  /** Tells `answer` whether the segment is locked: immediately, unless a test replaces this function. */
  askLock: SegmentFile['askLock'] = (answer) => answer(this.isLocked);
  /** The number of reads so far, and the number of bytes that they asked for. */
  reads = 0;
  bytesAsked = 0;
  /** Called before every read, so that a test can change the segment at that moment. */
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
  /** The number of open files. */
  openFiles = 0;

  /** Creates a segment with this name. An earlier segment with this name stays open in its readers. */
  put(name: string, bytes: Uint8Array): HeapSegment {
    const segment = new HeapSegment(bytes);
    this.#segments.set(name, segment);
    return segment;
  }

  remove(name: string): void {
    this.#segments.delete(name);
  }

  /** Makes `open` fail with this reason, as for a file that the reader may not open. */
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
      nameState: () => {
        const holder = this.#segments.get(name);
        if (!isOpen || holder === undefined) return 'removed';
        return holder === segment ? 'kept' : 'replaced';
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
