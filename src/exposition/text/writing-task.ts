// Something that the kernel writes at a render, in one form, and how long that takes.
import type { Job } from '../kernel/job.js';
import type { Deflater } from '../kernel/deflater.js';
import type { Scratch } from '../kernel/scratch.js';

/** Copying what is between changes, a change of few, and a line where many changed. */
const US_A_BYTE = 0.000_08;
const US_A_CHANGE = 0.2;
const US_A_LINE = 0.06;

/** How lines are wanted: as text, as parts of a stream, or both. */
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

/** About how many microseconds it takes to write lines in one form, of which so many changed. */
export const formUs = ({ lines, textBytes }: Extent, changes: number): number =>
  textBytes * US_A_BYTE + Math.min(changes * US_A_CHANGE, lines * US_A_LINE);

/** About how many microseconds it takes at most to write so many lines, as they are wanted. */
export const mostEffortUs = (extent: Extent, { hasText, deflater }: Wanted): number =>
  formUs(extent, extent.lines) * (Number(hasText) + Number(deflater !== undefined));

/** Room for what does not outlive a job: for values, and for parts of a stream. */
export interface JobRoom {
  readonly values: Scratch;
  readonly stream: Scratch;
}

/** Bytes of a line beside its name and labels. */
const VALUE_BYTES = 10;

/** About how many bytes of text lines are. */
export const bytesAsText = ({ lines, textBytes }: Extent): number =>
  textBytes + lines * VALUE_BYTES;

/** The text of a passage, or the stream of a block. */
export interface WritingTask {
  /** About how many bytes of text that is. */
  readonly bytes: number;

  /** About how many microseconds it takes. */
  effortUs(wanted: Wanted): number;

  /**
   * Makes a job of it, as far as that is left to the kernel: until the job is done and `finish` called, nothing
   * else may be done with the lines.
   */
  prepare(wanted: Wanted, room: JobRoom, job: Job): void;

  /** Takes what the job has made. */
  finish(job: Job): void;

  /** The job was not done, or not all of it: everything is written anew by the next. */
  abandon(): void;
}
