// One JVM in the tree: its objects and variables, and their values.
import type { PolledObject, PolledSource, SlotOwner } from '../foreign/polled-source.js';
import type { Declaration, Variable } from '../model.js';
import { isShownText, mapCounter } from './counter-mapping.js';
import type { JvmPart } from './counter-mapping.js';
import { declarationOf, unitOf } from './perf-data.js';
import type { PerfData } from './perf-data.js';
import { UNIT } from './perf-entries.js';
import type { PerfEntry } from './perf-entries.js';

// Ticks of a JVM's clock as nanoseconds.
const NANOSECONDS = 1_000_000_000n;

/** Turns ticks into nanoseconds. */
interface TickScale {
  /** `i64`: exact, for a clock whose frequency divides that of nanoseconds. */
  readonly type: 'i64' | 'f64';
  /** Undefined for more than 64 bits hold. */
  exact(ticks: bigint): bigint | undefined;
  near(ticks: bigint): number;
}

/** The scale of a clock of so many ticks a second; undefined for none. */
function tickScale(frequency: bigint | undefined): TickScale | undefined {
  if (frequency === undefined || frequency <= 0n) return undefined;
  const factor = NANOSECONDS / frequency;
  const exact = (ticks: bigint) => {
    const nanoseconds = ticks * factor;
    return BigInt.asIntN(64, nanoseconds) === nanoseconds ? nanoseconds : undefined;
  };
  const near = (ticks: bigint) => (Number(ticks) / Number(frequency)) * 1e9;
  return { type: NANOSECONDS % frequency === 0n ? 'i64' : 'f64', exact, near };
}

/** A counter with the variable that shows it. */
interface ShownCounter {
  readonly entry: PerfEntry;
  readonly variable: Variable;
}

/** It stands in the header of the file; other readers of these files give it this name. */
const OVERFLOW: Declaration = {
  name: 'sun.perfdata.overflow',
  type: 'i64',
  kind: 'gauge',
  unit: 'bytes',
  help: '',
  schema: [],
};

/** Where the objects of each class are, below that of their JVM. */
const FOLDERS: Readonly<Record<JvmPart['className'], string>> = {
  Collector: 'gc.',
  Generation: 'generation.',
  Pool: 'pool.',
  Application: '',
};

export class Jvm implements SlotOwner {
  readonly mainClass: string;
  readonly data: PerfData;
  readonly #source: PolledSource;
  readonly #object: PolledObject;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #scale: TickScale | undefined;
  readonly #parts = new Map<string, PolledObject>();
  readonly #longs: ShownCounter[] = [];
  readonly #ticks: ShownCounter[] = [];
  readonly #texts: ShownCounter[] = [];
  readonly #overflow: Variable;
  #isLost = false;

  /** Adds a JVM below the root, with a number that no other one there has. */
  constructor(source: PolledSource, root: PolledObject, pid: number, data: PerfData) {
    this.data = data;
    this.mainClass = data.mainClass ?? '';
    this.#source = source;
    this.#labels = { pid: String(pid), main_class: this.mainClass };
    this.#scale = tickScale(data.frequency);
    const facts = { name: `${root.name}.${pid}`, className: 'Jvm', labels: this.#labels };
    this.#object = source.addObject(this, facts, root);
    this.#overflow = source.addVariable(this, this.#object, OVERFLOW);
    this.#add([...data.entries.values()]);
  }

  /** Whether the file holds the counters of this JVM no more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes in the counters that the JVM added since, if any. */
  grow(): void {
    if (this.#isLost || !this.data.hasNews) return;
    try {
      const added = this.data.grow();
      if (added === undefined) this.#lose();
      else if (added.length > 0) this.#add(added);
    } catch {
      this.#lose();
    }
  }

  refresh(): void {
    if (this.#isLost) return;
    try {
      const bytes = this.data.read();
      if (bytes === undefined) this.#lose();
      else this.#take(bytes);
    } catch {
      // Whatever no JVM writes is not this one's any more.
      this.#lose();
    }
  }

  /** Takes it out of the tree; its file stays open. */
  leave(): void {
    this.#source.remove(this, this.#object);
  }

  #add(entries: readonly PerfEntry[]): void {
    const names = this.data.read();
    if (names === undefined) {
      this.#lose();
      return;
    }
    for (const entry of entries) this.#addCounter(entry, names);
    this.#setSynced(true);
    this.refresh();
  }

  #addCounter(entry: PerfEntry, bytes: Buffer): void {
    const isTicks = entry.type === 'long' && unitOf(entry) === UNIT.ticks;
    if (entry.type === 'text' && !isShownText(entry.name)) return;
    if ((isTicks && this.#scale === undefined) || !this.#source.hasRoom()) return;
    const { part, variable: name } = mapCounter(entry.name);
    const object = part === undefined ? this.#object : this.#partOf(part, bytes);
    const type = isTicks ? (this.#scale?.type ?? 'i64') : 'i64';
    const declaration = declarationOf(entry, name, type);
    const shown = { entry, variable: this.#source.addVariable(this, object, declaration) };
    if (entry.type === 'text') this.#texts.push(shown);
    else (isTicks ? this.#ticks : this.#longs).push(shown);
  }

  #partOf(part: JvmPart, bytes: Buffer): PolledObject {
    const known = this.#parts.get(part.key);
    if (known !== undefined) return known;
    const { name: parent, children } = this.#object;
    const path = `${parent}.${FOLDERS[part.className]}${this.#nameOf(part, bytes)}`;
    const isTaken = [...children].some(({ name }) => name === path);
    const name = isTaken ? `${path} ${this.#parts.size}` : path;
    const facts = { name, className: part.className, labels: this.#labels };
    const object = this.#source.addObject(this, facts, this.#object);
    this.#parts.set(part.key, object);
    return object;
  }

  /** The name that the JVM gives to a part, as one part of a path. */
  #nameOf({ namedBy, name }: JvmPart, bytes: Buffer): string {
    const texts = namedBy.map((counter) => {
      const entry = this.data.entries.get(counter);
      return entry?.type === 'text' ? this.data.text(bytes, entry) : '';
    });
    const isWhole = texts.length > 0 && texts.every((text) => text !== '');
    return isWhole
      ? texts
          .join(' ')
          .replace(/[.\p{Cc}\p{Cf}]/gu, '_')
          .slice(0, 128)
      : name;
  }

  #take(bytes: Buffer): void {
    const { slots } = this.#source;
    const { isLittleEndian } = this.data;
    slots.set(this.#overflow.slot, BigInt(this.data.overflow));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const { entry, variable } of this.#longs)
      slots.set(variable.slot, view.getBigInt64(entry.valueAt, isLittleEndian));
    for (const { entry, variable } of this.#ticks)
      this.#setTicks(variable.slot, view.getBigInt64(entry.valueAt, isLittleEndian));
    // Last: they may need a second copy in the same memory.
    for (const { entry, variable } of this.#texts)
      if (!this.#isLost) this.#setText(entry, variable, bytes);
  }

  #setTicks(slot: number, ticks: bigint): void {
    const { slots } = this.#source;
    if (this.#scale?.type === 'f64') slots.setDouble(slot, this.#scale.near(ticks));
    const nanoseconds = this.#scale?.type === 'i64' ? this.#scale.exact(ticks) : 0n;
    if (this.#scale?.type === 'i64' && nanoseconds !== undefined) slots.set(slot, nanoseconds);
    slots.setSynced(slot, nanoseconds !== undefined);
  }

  /** A JVM writes a text over the former one: what differs from that must be the same twice. */
  #setText(entry: PerfEntry, variable: Variable, bytes: Buffer): void {
    const text = this.data.text(bytes, entry);
    const known = this.#source.readFrame(variable);
    if (known?.type === 'string' && known.text === text) return;
    const again = this.data.read();
    if (again === undefined) this.#lose();
    else if (this.data.text(again, entry) === text) this.#source.setText(variable, text);
  }

  #lose(): void {
    this.#isLost = true;
    this.#setSynced(false);
  }

  #setSynced(isSynced: boolean): void {
    const { slots } = this.#source;
    slots.setSynced(this.#overflow.slot, isSynced);
    for (const { variable } of [...this.#longs, ...this.#ticks, ...this.#texts])
      slots.setSynced(variable.slot, isSynced);
  }
}
