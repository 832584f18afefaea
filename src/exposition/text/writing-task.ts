// Parts of a page that the kernel writes at a render: text, or parts of a deflate stream.
import type { Deflater } from '../kernel/deflater.js';
import type { Scratch } from '../kernel/scratch.js';

/** The output forms that a render must produce: text, parts of a deflate stream, or both. */
export interface Wanted {
  readonly hasText: boolean;
  /** Undefined if no parts are wanted. */
  readonly deflater: Deflater | undefined;
}

/** How many lines there are, and bytes of their names and labels. */
export interface Extent {
  readonly lines: number;
  readonly textBytes: number;
}

/** Kernel memory that a task uses while it writes. */
export interface WritingRoom {
  readonly values: Scratch;
  readonly stream: Scratch;
}

/** Bytes of a line beside its name and labels. */
const VALUE_BYTES = 10;

/** The approximate size of lines as text, in bytes. */
export const bytesAsText = ({ lines, textBytes }: Extent): number =>
  textBytes + lines * VALUE_BYTES;

/** The text of a passage, or the stream of a block. */
export interface WritingTask {
  /** The approximate size as text, in bytes. */
  readonly bytes: number;

  /** Writes the current values. If it throws, the next call writes everything again. */
  write(wanted: Wanted, room: WritingRoom): void;
}
