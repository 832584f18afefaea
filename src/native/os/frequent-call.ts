// A call of the C library that is made often.
import ffi from 'ffi-napi';
import bindings from 'ffi-napi/lib/bindings.js';
import { createRequire } from 'node:module';
import ref from 'ref-napi';

// Node unloads a native package when the last thread that uses it ends. ffi-napi closes a handle of the event
// loop at that moment, and libuv would then call unloaded code. Another reference keeps the packages loaded.
for (const file of Object.keys(createRequire(import.meta.url).cache))
  if (/\/(ffi|ref)-napi\/.*\.node$/.test(file)) ffi.DynamicLibrary(file);

export const POINTER_BYTES = 8;
/** What a result takes at least, however small its type is. */
const RESULT_BYTES = 8;

/** The type of an argument, and where its value is: whoever calls writes it there before. */
export type Argument = readonly [type: 'int' | 'long' | 'pointer', place: Buffer];

/** The value of an argument, in a place of its own. */
export const int = (value: number): Buffer => ref.alloc('int', value);
export const long = (value: number): Buffer => ref.alloc('long', value);
export const pointer = (to: Buffer): Buffer => {
  const place = Buffer.alloc(POINTER_BYTES);
  ref.writePointer(place, 0, to);
  return place;
};

/**
 * Its arguments have places of their own, so that nothing is made for a call: it takes 2 us. A function
 * of `ffi.Library` makes some eight buffers for each, which takes 60.
 */
export class FrequentCall {
  readonly #interface: Buffer;
  readonly #symbol: Buffer;
  readonly #result = Buffer.alloc(RESULT_BYTES);
  readonly #places: Buffer;
  /** They stay as long as their addresses are in use. */
  readonly arguments: readonly Argument[];

  /** @param name of a function of the C library that returns an int or a long */
  constructor(name: string, args: readonly Argument[]) {
    const types = args.map(([type]) => type);
    this.#interface = ffi.CIF('long', types);
    this.#symbol = ffi.DynamicLibrary().get(name);
    this.arguments = args;
    this.#places = Buffer.alloc(args.length * POINTER_BYTES);
    args.forEach(([, place], index) => {
      ref.writePointer(this.#places, index * POINTER_BYTES, place);
    });
  }

  /** Calls it with what is in the places now; an int of the result. */
  call(): number {
    bindings.ffi_call(this.#interface, this.#symbol, this.#result, this.#places);
    return this.#result.readInt32LE(0);
  }
}
