// Writes protobuf messages field by field.
import { COUNT_BYTES } from '../wasm/layout.js';

const [BACKSLASH, LETTER_N, LINE_FEED] = [0x5c, 0x6e, 0x0a];
/** Wire types. */
export const VARINT = 0;
const [FIXED64, LENGTH] = [1, 2];
export const MAX_VARINT_BYTES = 10;
/** The bytes of the tags and lengths of a few fields, at most. */
const TAG_BYTES = 64;

/** A buffer of protobuf fields that grows. */
export class MessageWriter {
  #bytes: Buffer;
  #view: DataView;
  /** The number of bytes that are written. */
  length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
    this.#view = viewOf(this.#bytes);
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  /** Ensures space for this many bytes. The methods that write check no bounds. */
  reserve(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const next = Buffer.allocUnsafe(2 * (this.length + bytes));
    this.written.copy(next);
    this.#bytes = next;
    this.#view = viewOf(next);
  }

  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80))
      this.#bytes[this.length++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.length++] = rest;
  }

  tag(field: number, wireType: number): void {
    this.#bytes[this.length++] = (field << 3) | wireType;
  }

  /** Writes a varint of `COUNT_BYTES` bytes, so that another count fits in its place. */
  count(field: number, value: bigint): void {
    this.tag(field, VARINT);
    let rest = value;
    for (let i = 1; i < COUNT_BYTES; i++, rest >>= 7n)
      this.#bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.length++] = Number(rest);
  }

  double(field: number, value: number): void {
    this.tag(field, FIXED64);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  text(field: number, value: string): void {
    const bytes = Buffer.from(value);
    this.reserve(bytes.length + TAG_BYTES);
    this.tag(field, LENGTH);
    this.varint(bytes.length);
    this.length += bytes.copy(this.#bytes, this.length);
  }

  /** Copies a part of another buffer. */
  slice(field: number, from: Uint8Array, start: number, end: number): void {
    this.tag(field, LENGTH);
    this.varint(end - start);
    let at = this.length;
    for (let i = start; i < end; i++) this.#bytes[at++] = from[i] ?? 0;
    this.length = at;
  }

  /** Copies the text of a label, with `escapes` backslashes, without its escapes. */
  unescaped(field: number, from: Uint8Array, start: number, end: number, escapes: number): void {
    this.tag(field, LENGTH);
    this.varint(end - start - escapes);
    for (let i = start; i < end; i++) {
      const isEscape = from[i] === BACKSLASH;
      if (isEscape) i++;
      const byte = from[i] ?? 0;
      this.#bytes[this.length++] = isEscape && byte === LETTER_N ? LINE_FEED : byte;
    }
  }

  /** Begins a message; returns the position to pass to `close`. */
  open(field: number): number {
    this.tag(field, LENGTH);
    return this.length++;
  }

  /** Ends a message: writes its length before it. */
  close(position: number): void {
    const bytes = this.length - position - 1;
    if (bytes > 0x7f) {
      this.reserve(MAX_VARINT_BYTES);
      const start = position + 1;
      this.#bytes.copyWithin(start + varintBytes(bytes) - 1, start, this.length);
    }
    this.length = position;
    this.varint(bytes);
    this.length += bytes;
  }
}

const viewOf = ({ buffer, byteOffset, length }: Buffer): DataView =>
  new DataView(buffer, byteOffset, length);

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
