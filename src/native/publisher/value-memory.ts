// The slots and frames of a segment: allocates them, writes their first values and words, and frees them.
import { schemaOf } from '../../published.js';
import type { SlotRef, ValueType } from '../../published.js';
import { FrameAllocator, SlotAllocator } from './allocators.js';
import { halvesOf } from './frame-writer.js';
import type { FrameRegion } from './frame-writer.js';
import type { SegmentMemory } from './published-values.js';
import type { PublisherFile } from './publisher-file.js';
import type { SegmentLayout } from './segment-layout.js';

export const NO_FRAME: FrameRegion = { offset: 0, length: 0 };
/** The layout of a segment without capacity. */
const EMPTY_LAYOUT = { words: 0, slotValues: 0, frames: 0, slots: 0, frameBytes: 0 };

export class ValueMemory {
  readonly memory: SegmentMemory;
  readonly #file: PublisherFile;
  readonly #layout: SegmentLayout;
  readonly #frames: FrameAllocator;
  #slots: SlotAllocator;

  constructor(file: PublisherFile, layout: SegmentLayout) {
    this.memory = segmentMemory(file.bytes, layout);
    this.#file = file;
    this.#layout = layout;
    this.#frames = new FrameAllocator(Math.floor(layout.frameBytes / 8));
    this.#slots = new SlotAllocator(layout.slots);
  }

  /** Whether the slot still has the incarnation of `ref`. */
  ownsSlot({ slot, incarnation }: SlotRef): boolean {
    return (this.memory.words[slot] ?? 0) >>> 1 === incarnation;
  }

  storeWord({ slot, incarnation }: SlotRef, isSynced: boolean): void {
    Atomics.store(this.memory.words, slot, ((incarnation << 1) | Number(isSynced)) >>> 0);
  }

  /** Initializes the slot and frame of a variable, with or without a value. */
  storeFirst(
    type: ValueType,
    ref: SlotRef,
    { offset, length }: FrameRegion,
    synced: boolean,
  ): void {
    const { frames, frameFloats, u64 } = this.memory;
    const updates = length > 0 && synced ? 1n : 0n;
    if (length > 0) {
      frames.fill(0n, offset, offset + length);
      // In a summary without observations, each quantile is NaN.
      if (schemaOf(type) === 'quantiles' && synced)
        frameFloats.fill(Number.NaN, offset + 3, offset + length - 1);
      frames[offset] = updates;
      frames[offset + length - 1] = updates;
    }
    u64[ref.slot] = updates;
    this.storeWord(ref, synced);
  }

  allocateSlot(): SlotRef | undefined {
    const { words, slotValues, slots } = this.#layout;
    return this.#slots.allocate(
      (slot) =>
        this.#file.reserve(words, (slot + 1) * 4, slots * 4) &&
        this.#file.reserve(slotValues, (slot + 1) * 8, slots * 8),
    );
  }

  freeSlot(ref: SlotRef): void {
    const incarnation = this.#slots.free(ref);
    this.storeWord({ slot: ref.slot, incarnation }, false);
  }

  /** Allocates a frame of `length` words, which may be 0; undefined if there is no room. */
  allocateFrame(length: number): FrameRegion | undefined {
    if (length === 0) return NO_FRAME;
    const offset = this.#frames.allocate(length);
    if (offset === undefined) return undefined;
    const { frames, frameBytes } = this.#layout;
    if (this.#file.reserve(frames, (offset + length) * 8, frameBytes)) return { offset, length };
    this.#frames.free(offset, length);
    return undefined;
  }

  freeFrame({ offset, length }: FrameRegion): void {
    if (length > 0) this.#frames.free(offset, length);
  }

  /** Replaces the mapped memory by empty arrays. From here on, no handle is live, and no slot is free. */
  close(): void {
    Object.assign(this.memory, segmentMemory(Buffer.alloc(0), EMPTY_LAYOUT));
    this.#slots = new SlotAllocator(0);
  }
}

function segmentMemory(bytes: Buffer, layout: typeof EMPTY_LAYOUT): SegmentMemory {
  const { buffer, byteOffset } = bytes;
  const slotsAt = byteOffset + layout.slotValues;
  const framesAt = byteOffset + layout.frames;
  const frameUnits = Math.floor(layout.frameBytes / 8);
  const u64 = new BigUint64Array(buffer, slotsAt, layout.slots);
  const frames = new BigUint64Array(buffer, framesAt, frameUnits);
  return {
    words: new Uint32Array(buffer, byteOffset + layout.words, layout.slots),
    u64,
    slotHalves: halvesOf(u64),
    i64: new BigInt64Array(buffer, slotsAt, layout.slots),
    f64: new Float64Array(buffer, slotsAt, layout.slots),
    frames,
    frameHalves: halvesOf(frames),
    frameFloats: new Float64Array(buffer, framesAt, frameUnits),
    frameBytes: new Uint8Array(buffer, framesAt, frameUnits * 8),
  };
}
