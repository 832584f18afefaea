// Puts the small pieces of a page together: small writes cost more than copying them.
import { copyBytes } from '../../bytes.js';

/** Larger pieces are not copied. */
const SMALL = 16_384;
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const BYTES_A_UNIT = 3;

/** Where pieces are put together: that of one packer at a time. */
let room = Buffer.allocUnsafeSlow(SMALL);

/** Nothing else is packed between the first call and `end()`. */
export class Packer {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  text(text: string): void {
    this.#makeRoom(text.length * BYTES_A_UNIT);
    this.#bytes += room.write(text, this.#bytes);
  }

  piece(piece: Uint8Array): void {
    if (piece.length >= SMALL) {
      if (this.#bytes > 0) this.#close();
      this.#pieces.push(piece);
      return;
    }
    this.#makeRoom(piece.length);
    copyBytes(piece, room, this.#bytes);
    this.#bytes += piece.length;
  }

  /** All that it was given, in order. */
  end(): readonly Uint8Array[] {
    if (this.#bytes > 0) this.#close();
    return this.#pieces;
  }

  #makeRoom(bytes: number): void {
    if (this.#bytes + bytes <= room.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes + bytes, room.length * 2));
    grown.set(room.subarray(0, this.#bytes));
    room = grown;
  }

  #close(): void {
    this.#pieces.push(Buffer.from(room.subarray(0, this.#bytes)));
    this.#bytes = 0;
  }
}
