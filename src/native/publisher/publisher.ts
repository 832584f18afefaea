// The publisher library: writes managed objects to a segment. The counterpart of sdk/c/shm_publisher.h.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Fault } from '../../errors.js';
import { VALUE_TYPES, isFramed, schemaOf } from '../../published.js';
import type { ObjectState, RootIdentity, SlotRef, ValueType } from '../../published.js';
import { checkValue, shownValue } from '../../rules/options.js';
import { flag } from '../../rules/rule.js';
import { DirectoryWriter } from './directory-writer.js';
import {
  LIMITS,
  MUTABLE,
  MUTABLE_OFFSET,
  NO_SLOT,
  RECORD_KIND,
  SEGMENT_STATE,
  VARIABLE_FLAG,
  VARIABLE_KINDS,
  frameWords,
} from '../segment/layout.js';
import { allowedBy, newHandle, storedInteger } from './published-values.js';
import type { FrameRegion } from './frame-writer.js';
import type { PublishedValues, VariableLocation } from './published-values.js';
import { NameWait, busyAdvice } from './name-wait.js';
import { PublisherFile } from './publisher-file.js';
import { headerBytes, computeLayout } from './segment-layout.js';
import { NO_FRAME, ValueMemory } from './value-memory.js';
import {
  checkObject,
  checkParent,
  checkPublisher,
  checkRoot,
  checkVariable,
  count,
  stateNumber,
  variableHandle,
  segmentOf,
} from './publisher-options.js';
import type {
  ObjectOptions,
  PublishedObject,
  PublisherOptions,
  RootOptions,
  VariableOptions,
} from './publisher-options.js';

const { hrtime, pid: ownPid } = process;

/** The slots, the frame and the tree links of a published object or variable. */
interface PublishedNode {
  readonly ref: SlotRef;
  readonly asOf?: SlotRef | undefined;
  readonly frame?: FrameRegion;
  /** Ids of the direct children and variables of an object. */
  readonly children?: Set<number>;
  readonly owner: number;
  /** Number of objects on the path from the root, including the object; 0 for a variable. */
  readonly depth: number;
}

const systemRealtimeNs = () =>
  BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
const CHECK_PERIOD_NS = 1_000_000_000n;
/** `console.error` ignores a closed stderr, unlike a write to the stream. */
export const warnOnStderr = (sentence: string): void => console.error(`shm-publisher: ${sentence}`);

/**
 * The publisher of one segment. Use it only on the thread that created it; other programs only read the segment. When
 * the segment is full, further objects and variables are counted as dropped, and their handles store nothing.
 */
export class Publisher {
  readonly #file: PublisherFile;
  readonly #directory: DirectoryWriter;
  readonly #values: ValueMemory;
  #header: BigUint64Array;
  readonly #nodes = new Map<number, PublishedNode>();
  /** The id of the last variable in each slot; the variable may have been removed. */
  readonly #variableIds: number[] = [];
  readonly heartbeatMs: number;
  readonly #failIfBusy: boolean;
  readonly #hasSeries: boolean;
  readonly #wait: NameWait;
  #lastId = 0;
  /** When to check the segment's name next, by `hrtime`; undefined before `publish()` and after `close()`. */
  #checkAtNs: bigint | undefined;
  #isClosed = false;

  /**
   * Creates a segment that readers do not see yet. Add the initial objects, then call `publish()`.
   * @param advice the end of the warning that another publisher holds the server key
   * @throws RangeError for an option that is unknown, invalid or missing
   * @throws Fault NATIVE_FAILED or SEGMENT_FULL if the segment cannot be created
   */
  constructor(options: PublisherOptions, advice = busyAdvice('its pid')) {
    checkPublisher(options);
    const { pid = ownPid } = options;
    this.heartbeatMs = options.heartbeatMs ?? 1000;
    const layout = computeLayout(options.capacity);
    const unique = `${pid}.${randomBytes(4).toString('hex')}`;
    // Invalid options throw here, so this comes before the file is created.
    const header = headerBytes(layout, {
      generation: randomBytes(8).readBigUInt64LE() | 1n,
      realtimeNs: (options.realtimeNs ?? systemRealtimeNs)(),
      monotonicNs: hrtime.bigint(),
      pid,
      heartbeatPeriodNs: BigInt(this.heartbeatMs) * 1_000_000n,
      hasSeries: options.series ?? false,
    });
    const name = segmentOf(options);
    this.#file = new PublisherFile(name, layout.fileSize, options.mode ?? 0o644, unique);
    header.copy(this.#file.bytes);
    const { buffer, byteOffset } = this.#file.bytes;
    this.#header = new BigUint64Array(buffer, byteOffset + MUTABLE_OFFSET, MUTABLE.size / 8);
    this.#directory = new DirectoryWriter(this.#file, layout);
    this.#values = new ValueMemory(this.#file, layout);
    this.#failIfBusy = options.failIfBusy ?? false;
    this.#hasSeries = options.series ?? false;
    const retry = () => {
      this.#checkAtNs = 0n;
      this.heartbeat();
    };
    this.#wait = new NameWait(advice, retry, options.warn ?? warnOnStderr);
    this.heartbeat();
  }

  /** Whether the segment has its server key now, so that readers find it. */
  get holdsKey(): boolean {
    return !this.#isClosed && this.#file.hasName;
  }

  /**
   * Makes the segment visible. If another live publisher has the server key, for example the predecessor of a restarted
   * program, this publisher waits: it takes the key within about a second after the other publisher releases it.
   * @throws Fault SEGMENT_BUSY instead of waiting if `failIfBusy` is set; NATIVE_FAILED if the system refuses the name
   */
  publish(): void {
    if (this.#isClosed) throw new Fault('USAGE', 'The publisher is closed');
    this.heartbeat();
    Atomics.store(this.#header, MUTABLE.state / 8, BigInt(SEGMENT_STATE.live));
    try {
      this.#file.place();
      this.#wait.succeed(this.#file.path);
    } catch (error) {
      const isBusy = error instanceof Fault && error.code === 'SEGMENT_BUSY';
      if (!isBusy || this.#failIfBusy) throw error;
      this.#wait.after(error);
    }
    this.#checkAtNs = hrtime.bigint() + CHECK_PERIOD_NS;
  }

  /** The former name of `publish`. */
  place(): void {
    this.publish();
  }

  /**
   * Adds a root object.
   * @throws RangeError for values that the format does not allow; then nothing is published
   */
  addRoot(name: string, className: string, options: RootOptions = {}): PublishedObject {
    checkRoot(name, className, options);
    return this.#addObject(undefined, name, className, options, options.identity ?? {});
  }

  /**
   * Adds an object below another. `name` is its whole id, which begins with the parent's id and a dot.
   * @throws RangeError for values that the format does not allow; then nothing is published
   */
  addObject(
    parent: PublishedObject,
    name: string,
    className: string,
    options: ObjectOptions = {},
  ): PublishedObject {
    checkObject(parent, name, className, options);
    return this.#addObject(parent, name, className, options, {});
  }

  /**
   * Adds a variable. It becomes synced with its first value. Histograms and summaries are synced from the
   * start, without observations, unless `options.synced` is false.
   * @throws RangeError for values that the format does not allow; then nothing is published
   */
  addVariable<T extends ValueType>(
    object: PublishedObject,
    name: string,
    type: T,
    options: VariableOptions = {},
  ): PublishedValues[T] {
    const stated = checkVariable(object, name, type, options);
    const { kind = 'unknown', unit = '', help = '', textBytes = 64 } = options;
    // A copy, since the caller may change the array.
    const schema = [...(options.schema ?? [])];
    const isSeries = options.labels !== undefined;
    if (isSeries && !this.#hasSeries)
      throw new RangeError(
        'addVariable: labels: allowed only if the publisher has the option series',
      );
    const hasSchema = schemaOf(type) !== undefined;
    const { synced = hasSchema } = options;
    const words = isFramed(type) ? frameWords(type, hasSchema ? schema.length : textBytes) : 0;
    const ref =
      object.id === 0 || !this.#nodes.has(object.id) ? undefined : this.#values.allocateSlot();
    const frame = ref === undefined ? NO_FRAME : this.#values.allocateFrame(words);
    if (ref === undefined || frame === undefined)
      return this.#dropVariable(type, { name, kind, ref, frame: NO_FRAME, schema });
    this.#values.storeFirst(type, ref, frame, synced);
    const id = ++this.#lastId;
    const isAdded = this.#directory.add({
      id,
      owner: object.id,
      recordKind: RECORD_KIND.variable,
      type: VALUE_TYPES[type].number,
      kind: VARIABLE_KINDS.indexOf(isFramed(type) ? 'unknown' : kind),
      flags: isSeries ? VARIABLE_FLAG.series : 0,
      ...ref,
      name: stated,
      text1: unit,
      text2: help,
      text3: Buffer.from(Float64Array.from(schema).buffer),
      text4: frame.offset,
      extra1: words,
      extra2: 0,
    });
    if (!isAdded) return this.#dropVariable(type, { name, kind, ref, frame, schema });
    this.#nodes.set(id, { ref, frame, owner: object.id, depth: 0 });
    this.#variableIds[ref.slot] = id;
    this.#nodes.get(object.id)?.children?.add(id);
    return newHandle(type, this.#values.memory, { name, kind, ref, frame, schema });
  }

  /**
   * Sets the management state of an object; false if it is removed.
   * @throws RangeError for a state that does not exist
   */
  setState(object: PublishedObject, state: ObjectState): boolean {
    checkParent('setState: object', object);
    const { ref } = object;
    const stored = stateNumber(state);
    if (ref === undefined || !this.#values.ownsSlot(ref)) return false;
    this.#values.memory.u64[ref.slot] = stored;
    return true;
  }

  /** Sets whether an object is synced. @throws RangeError for anything but an object and a boolean */
  setSynced(object: PublishedObject, isSynced = true): boolean {
    checkParent('setSynced: object', object);
    checkValue('setSynced: isSynced', isSynced, flag);
    const { ref } = object;
    if (ref === undefined || !this.#values.ownsSlot(ref)) return false;
    this.#values.storeWord(ref, isSynced);
    return true;
  }

  /**
   * Sets the time (Unix ns) to which a root's values refer; undefined clears it.
   * @throws RangeError for anything but an integer from 0 to 2^64 - 1
   */
  setAsOf(root: PublishedObject, unixNs: bigint | undefined): boolean {
    checkParent('setAsOf: root', root);
    const { asOf } = root;
    const stored = unixNs === undefined ? 0n : storedInteger(VALUE_TYPES.u64.range, unixNs);
    const found = shownValue(unixNs);
    if (stored === undefined)
      throw new RangeError(`setAsOf: unixNs: found ${found}, allowed: ${allowedBy('u64')}`);
    if (asOf === undefined || !this.#values.ownsSlot(asOf)) return false;
    if (unixNs !== undefined) this.#values.memory.u64[asOf.slot] = stored;
    this.#values.storeWord(asOf, unixNs !== undefined);
    return true;
  }

  /** Removes an object and everything below it. @throws RangeError for anything but an object */
  removeObject(object: PublishedObject): void {
    checkParent('removeObject: object', object);
    this.#remove(object.id);
  }

  /** Removes one variable; its handle rejects values from now on. @throws RangeError for anything but a handle */
  removeVariable(value: { readonly ref: SlotRef | undefined }): void {
    checkValue('removeVariable: value', value, variableHandle);
    const id = this.#variableIds[value.ref?.slot ?? NO_SLOT];
    // Another variable may have reused the slot.
    if (id !== undefined && this.#nodes.get(id)?.ref === value.ref) this.#remove(id);
  }

  /** Writes a heartbeat. If the segment has no name, also tries once a second to take its name. */
  heartbeat(): void {
    const now = hrtime.bigint();
    Atomics.store(this.#header, MUTABLE.heartbeatNs / 8, now);
    if (this.#checkAtNs === undefined || this.#isClosed || now < this.#checkAtNs) return;
    this.#checkAtNs = now + CHECK_PERIOD_NS;
    try {
      this.#file.restoreName();
      this.#wait.succeed(this.#file.path);
    } catch (error) {
      // /dev/shm is full, or another publisher has the name.
      this.#wait.after(error);
    }
  }

  /** The former name of `heartbeat`. */
  beat(): void {
    this.heartbeat();
  }

  /**
   * Replaces the counts of dropped items. Call it before you retry dropped items: otherwise an item counts once for
   * each failed attempt.
   */
  setDropped(objects: number, variables: number): void {
    checkValue('setDropped: objects', objects, count);
    checkValue('setDropped: variables', variables, count);
    Atomics.store(this.#header, MUTABLE.objectsDropped / 8, BigInt(objects));
    Atomics.store(this.#header, MUTABLE.variablesDropped / 8, BigInt(variables));
  }

  /** Wakes the readers and writes a heartbeat. Call it after a batch of stores, or from a timer. */
  notify(): void {
    this.heartbeat();
    Atomics.add(this.#header, MUTABLE.notifications / 8, 1n);
    if (this.#checkAtNs !== undefined) this.#file.wake(MUTABLE_OFFSET + MUTABLE.notifications);
  }

  /** Closes the segment: readers see a clean close, and the name is removed. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    Atomics.store(this.#header, MUTABLE.state / 8, BigInt(SEGMENT_STATE.closed));
    this.notify();
    this.#values.close();
    this.#header = this.#header.slice();
    this.#nodes.clear();
    this.#checkAtNs = undefined;
    this.#wait.end();
    this.#file.close();
  }

  #addObject(
    parent: PublishedObject | undefined,
    name: string,
    className: string,
    { state = 'normal', synced = true }: ObjectOptions,
    { host = '', instance = '', application = '' }: Partial<RootIdentity>,
  ): PublishedObject {
    const stored = stateNumber(state);
    const depth = (this.#nodes.get(parent?.id ?? 0)?.depth ?? 0) + 1;
    if (depth > LIMITS.depth)
      throw new RangeError(
        `addObject: parent of ${shownValue(name)}: found one with ${depth - 2} objects above it, allowed: at most ${LIMITS.depth - 2}`,
      );
    const hasParent = parent === undefined || this.#nodes.has(parent.id);
    const ref = hasParent ? this.#values.allocateSlot() : undefined;
    const asOf =
      parent === undefined && ref !== undefined ? this.#values.allocateSlot() : undefined;
    if (ref === undefined) return this.#dropObject(parent, name, ref, asOf);
    this.#values.memory.u64[ref.slot] = stored;
    this.#values.storeWord(ref, synced);
    if (asOf !== undefined) {
      this.#values.memory.u64[asOf.slot] = 0n;
      this.#values.storeWord(asOf, false);
    }
    // While a caller adds a large tree in one go, the heartbeat timer cannot fire.
    this.heartbeat();
    const id = ++this.#lastId;
    const isAdded = this.#directory.add({
      id,
      owner: parent?.id ?? 0,
      recordKind: RECORD_KIND.object,
      type: 0,
      kind: 0,
      flags: 0,
      ...ref,
      name,
      text1: className,
      text2: host,
      text3: instance,
      text4: application,
      extra1: asOf?.slot ?? (parent === undefined ? NO_SLOT : 0),
      extra2: asOf?.incarnation ?? 0,
    });
    if (!isAdded) return this.#dropObject(parent, name, ref, asOf);
    this.#nodes.set(id, { ref, asOf, children: new Set(), owner: parent?.id ?? 0, depth });
    if (parent !== undefined) this.#nodes.get(parent.id)?.children?.add(id);
    return { id, name, ref, parent, asOf };
  }

  #dropVariable<T extends ValueType>(type: T, location: VariableLocation): PublishedValues[T] {
    if (location.ref !== undefined) this.#values.freeSlot(location.ref);
    this.#values.freeFrame(location.frame);
    Atomics.add(this.#header, MUTABLE.variablesDropped / 8, 1n);
    return newHandle(type, this.#values.memory, { ...location, ref: undefined, frame: NO_FRAME });
  }

  #dropObject(
    parent: PublishedObject | undefined,
    name: string,
    ...refs: readonly (SlotRef | undefined)[]
  ): PublishedObject {
    for (const ref of refs) if (ref !== undefined) this.#values.freeSlot(ref);
    Atomics.add(this.#header, MUTABLE.objectsDropped / 8, 1n);
    return { id: 0, name, ref: undefined, parent, asOf: undefined };
  }

  #remove(id: number): void {
    const item = this.#nodes.get(id);
    if (item === undefined) return;
    const ids: number[] = [];
    const collect = (at: number) => {
      ids.push(at);
      this.#nodes.get(at)?.children?.forEach(collect);
    };
    collect(id);
    // Publish the tombstone before the new words, so that a reader that sees a new word also sees the removal.
    this.#directory.remove(ids);
    this.#nodes.get(item.owner)?.children?.delete(id);
    for (const gone of ids) {
      const { ref, asOf, frame } = this.#nodes.get(gone) ?? item;
      this.#nodes.delete(gone);
      this.#values.freeSlot(ref);
      if (asOf !== undefined) this.#values.freeSlot(asOf);
      if (frame !== undefined) this.#values.freeFrame(frame);
    }
  }
}
