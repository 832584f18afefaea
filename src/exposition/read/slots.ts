// Slots: in sectors, which are copied together, with their words and bits.
import type { Variable } from '../../model.js';
import { isFramed, scalarType } from '../../published.js';
import { OPCODE } from '../wasm/kernel.js';
import type { Opcode } from '../wasm/kernel.js';
import { numberText } from '../text/text-syntax.js';

/** The slots of a sector: 4 KiB of values and 2 KiB of words in the source, 8 KiB of cells. */
export const SECTOR_SLOTS = 512;
/** The maximum number of sectors of one copy: few enough to stay in the processor's cache until they are compared. */
const MAX_RANGE = 64;

export const sectorOf = (slot: number): number => Math.floor(slot / SECTOR_SLOTS);

/** Consecutive sectors that one copy reads. */
export interface SectorRange {
  readonly first: number;
  sectors: number;
}

/** Sorts sectors into ranges. */
export function rangesOf(sectors: Iterable<number>): readonly SectorRange[] {
  const ranges: SectorRange[] = [];
  for (const sector of [...new Set(sectors)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    const isNext = last !== undefined && last.first + last.sectors === sector;
    if (isNext && last.sectors < MAX_RANGE) last.sectors++;
    else ranges.push({ first: sector, sectors: 1 });
  }
  return ranges;
}

/** The word of a slot whose variable or object has a value. */
export const syncedWord = (incarnation: number): number => ((incarnation << 1) | 1) >>> 0;

/** How the kernel renders the variable; undefined if it is not a number. */
export function opcodeOf({ type }: Variable, wrap32: boolean): Opcode | undefined {
  if (isFramed(type)) return undefined;
  const { bits } = scalarType(type);
  return bits === 'i64' && wrap32 ? OPCODE.wrap32 : OPCODE[bits];
}

/** The value as a double. */
export const numberOf = (bits: bigint, variable: Variable): number =>
  Number(exactOf(bits, variable));

/** The value as a decimal; integers are exact. */
export const decimalOf = (bits: bigint, variable: Variable): string =>
  numberText(exactOf(bits, variable));

/** The value; integers are exact. For a framed variable it is the number of updates. */
export function exactOf(bits: bigint, { type }: Variable): bigint | number {
  const read = isFramed(type) ? 'u64' : scalarType(type).bits;
  if (read === 'i64') return BigInt.asIntN(64, bits);
  if (read === 'bool') return bits === 0n ? 0n : 1n;
  if (read === 'u64') return bits;
  return new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? NaN;
}
