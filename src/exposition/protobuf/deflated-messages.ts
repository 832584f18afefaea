// Compresses messages so that the kernel can replace their values in the compressed bits.
import { crc32 } from 'node:zlib';
import { crcTables } from '../compress/crc.js';
import { SYMBOLS, evenDeflateTable } from '../compress/deflate-code.js';
import type { Piece } from '../../model.js';
import type { Block } from '../text/block.js';
import { RenderBuffer } from '../text/render-buffer.js';
import { PADDING_BYTES } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import { CODE_BYTES, CODE_COUNTS, MESSAGES_PLACES, PLACE_BYTES } from '../wasm/layout.js';
import { Scratch } from '../wasm/memory.js';

/** A deflate block in the buffer of its messages. */
export interface DeflatedMessages {
  /** The offset of the block in the buffer, and its size. */
  readonly at: number;
  readonly bytes: number;
  /** The CRC-32 of the messages. */
  readonly crc: number;
}

/** Messages in a buffer, as layout.ts draws it. */
export interface PlacedMessages {
  readonly blocks: readonly Block[];
  readonly buffer: RenderBuffer;
  readonly piece: Piece;
}

/** The table of the code, then the counts of symbols. */
const TABLE_BYTES = CODE_BYTES + SYMBOLS * 4;

export class MessageDeflater {
  readonly #kernel: Kernel;
  readonly #scratch: Scratch;
  /** The address of the code's table. */
  readonly table: number;
  #hasCode = false;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#scratch = new Scratch(kernel);
    kernel.installCrcTables(crcTables());
    this.table = kernel.arena.allocate(TABLE_BYTES);
  }

  /** Chooses the code of all messages by the symbols of some, at the first call. */
  chooseCode(sample: () => PlacedMessages): void {
    if (this.#hasCode) return;
    const { bytes, u32 } = this.#kernel;
    bytes.set(evenDeflateTable(Array.from({ length: SYMBOLS }, () => 0)), this.table);
    const at = (this.table + CODE_BYTES) / 4;
    u32.fill(0, at, at + SYMBOLS);
    this.#write(sample(), at * 4);
    const counts = this.#kernel.u32.subarray(at, at + SYMBOLS);
    this.#kernel.bytes.set(evenDeflateTable([...counts]), this.table);
    this.#hasCode = true;
  }

  /** Compresses the messages of some blocks. Returns a new buffer with the messages and the deflate block. */
  deflate(messages: PlacedMessages): {
    readonly buffer: RenderBuffer;
    readonly deflated: DeflatedMessages;
  } {
    const { run } = this.#kernel;
    const {
      buffer: last,
      piece: { data, lines },
    } = messages;
    const messagesEnd = MESSAGES_PLACES + lines * PLACE_BYTES + data.length;
    const at = messagesEnd + lines * PLACE_BYTES;
    const [bitPlaces, bytes] = this.#write(messages);
    const buffer = new RenderBuffer(this.#kernel, at + bytes + PADDING_BYTES);
    run.copy(buffer.address, last.address, messagesEnd);
    run.copy(buffer.address + messagesEnd, bitPlaces, lines * PLACE_BYTES + bytes);
    return { buffer, deflated: { at, bytes, crc: crc32(data) } };
  }

  /**
   * Writes the bit places, and then the deflate block. Returns the address of both and the size of the block.
   * @param counts where to count symbols instead; 0 to count none
   */
  #write(
    { blocks: [first], buffer, piece }: PlacedMessages,
    counts = 0,
  ): readonly [at: number, bytes: number] {
    const { run } = this.#kernel;
    const { data, lines } = piece;
    // A byte takes at most two bytes; the rest is for the header and what the last write stores beyond the end.
    const at = this.#scratch.reserve(lines * PLACE_BYTES + 2 * data.length + 2 * CODE_BYTES);
    const distance = first === undefined ? 1 : run.bestLineDistance(first.address, this.table, at);
    this.#kernel.u32[(this.table + CODE_COUNTS) / 4] = counts;
    const bytes = run.deflateMessages(buffer.address, distance, this.table, at);
    this.#kernel.u32[(this.table + CODE_COUNTS) / 4] = 0;
    return [at, bytes];
  }

  close(): void {
    this.#scratch.close();
    this.#kernel.arena.free(this.table, TABLE_BYTES);
  }
}
