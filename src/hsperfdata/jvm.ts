// One JVM in the tree: its objects and variables, and their values.
import { gauge } from '../foreign/polled-source.js';
import type { PolledObject, PolledSource, SlotWriter } from '../foreign/polled-source.js';
import type { Variable } from '../model.js';
import { isExportedText, mapCounter } from './counter-mapping.js';
import type { JvmPart } from './counter-mapping.js';
import { declarationOf, unitOf } from './perf-data.js';
import type { PerfData } from './perf-data.js';
import { UNIT } from './perf-entries.js';
import type { PerfEntry } from './perf-entries.js';

/** Nanoseconds per second. */
const NANOSECONDS = 1_000_000_000n;

/** A counter and its variable. */
interface ShownCounter {
  readonly entry: PerfEntry;
  readonly variable: Variable;
}

/** The overflow field of the file header. Other readers of these files use the same name. */
const OVERFLOW = gauge('sun.perfdata.overflow', 'i64', 'bytes');

/** The name prefixes of objects, by class. */
const PREFIXES: Readonly<Record<JvmPart['className'], string>> = {
  Collector: 'gc.',
  Generation: 'generation.',
  Pool: 'pool.',
  Application: '',
};

export class Jvm implements SlotWriter {
  readonly mainClass: string;
  readonly data: PerfData;
  readonly #source: PolledSource;
  readonly #object: PolledObject;
  readonly #labels: Readonly<Record<string, string>>;
  /** The ticks of the JVM's clock per second; 0 if unknown. */
  readonly #frequency: bigint;
  readonly #parts = new Map<string, PolledObject>();
  readonly #longs: ShownCounter[] = [];
  readonly #ticks: ShownCounter[] = [];
  readonly #texts: ShownCounter[] = [];
  readonly #overflow: Variable;
  #isLost = false;

  /** Adds a JVM below the root. @param pid distinguishes the JVMs below the root */
  constructor(source: PolledSource, root: PolledObject, pid: number, data: PerfData) {
    this.data = data;
    this.mainClass = data.mainClass ?? '';
    this.#source = source;
    this.#labels = { pid: String(pid), main_class: this.mainClass };
    this.#frequency = data.frequency ?? 0n;
    const facts = {
      ...{ name: `${root.name}.${pid}`, className: 'Jvm', labels: this.#labels },
      startedUnixMs: data.jvmStartUnixMs,
    };
    this.#object = source.addObject(this, facts, root);
    this.#overflow = source.addVariable(this, this.#object, OVERFLOW);
    this.#add([...data.entries.values()]);
  }

  get #isExact(): boolean {
    return NANOSECONDS % this.#frequency === 0n;
  }

  /** Whether the counters of this JVM are gone from the file. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Adds the counters that the JVM has created since the last call. */
  addNewCounters(): void {
    if (this.#isLost || !this.data.hasNewEntries) return;
    try {
      const added = this.data.readNewEntries();
      if (added === undefined) this.#lose();
      else if (added.length > 0) this.#add(added);
    } catch {
      this.#lose();
    }
  }

  writeSlots(): void {
    if (this.#isLost) return;
    try {
      const bytes = this.data.read();
      if (bytes === undefined) this.#lose();
      else this.#store(bytes);
    } catch {
      // Invalid content: another process may have reused the file.
      this.#lose();
    }
  }

  /** Removes the JVM from the tree; its file stays open. */
  remove(): void {
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
    this.writeSlots();
  }

  #addCounter(entry: PerfEntry, bytes: Buffer): void {
    const isTicks = entry.type === 'long' && unitOf(entry) === UNIT.ticks;
    if (entry.type === 'text' && !isExportedText(entry.name)) return;
    if ((isTicks && this.#frequency <= 0n) || !this.#source.hasRoom()) return;
    const { part, variable: name } = mapCounter(entry.name);
    const object = part === undefined ? this.#object : this.#partOf(part, bytes);
    const type = isTicks && !this.#isExact ? 'f64' : 'i64';
    const declaration = declarationOf(entry, name, type);
    const shown = { entry, variable: this.#source.addVariable(this, object, declaration) };
    if (entry.type === 'text') this.#texts.push(shown);
    else (isTicks ? this.#ticks : this.#longs).push(shown);
  }

  #partOf(part: JvmPart, bytes: Buffer): PolledObject {
    const known = this.#parts.get(part.key);
    if (known !== undefined) return known;
    const { name: parent, children } = this.#object;
    const path = `${parent}.${PREFIXES[part.className]}${this.#nameOf(part, bytes)}`;
    const isTaken = [...children].some(({ name }) => name === path);
    const name = isTaken ? `${path} ${this.#parts.size}` : path;
    const facts = { name, className: part.className, labels: this.#labels };
    const object = this.#source.addObject(this, facts, this.#object);
    this.#parts.set(part.key, object);
    return object;
  }

  /** The name that the JVM states for a part, without dots. */
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

  #store(bytes: Buffer): void {
    const { slots } = this.#source;
    const { isLittleEndian } = this.data;
    slots.set(this.#overflow.slot, BigInt(this.data.overflow));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const { entry, variable } of this.#longs)
      slots.set(variable.slot, view.getBigInt64(entry.valueAt, isLittleEndian));
    for (const { entry, variable } of this.#ticks)
      this.#setTicks(variable.slot, view.getBigInt64(entry.valueAt, isLittleEndian));
    // Texts come last: a text may need a second copy of the file, which overwrites `bytes`.
    for (const { entry, variable } of this.#texts)
      if (!this.#isLost) this.#setText(entry, variable, bytes);
  }

  /**
   * Stores ticks of the JVM's clock as nanoseconds: exactly if its frequency divides 10^9, otherwise as a double. An
   * exact number of more than 64 bits counts as no value.
   */
  #setTicks(slot: number, ticks: bigint): void {
    const { slots } = this.#source;
    const nanoseconds = ticks * (NANOSECONDS / this.#frequency);
    const hasValue = !this.#isExact || BigInt.asIntN(64, nanoseconds) === nanoseconds;
    if (!this.#isExact) slots.setDouble(slot, (Number(ticks) / Number(this.#frequency)) * 1e9);
    else if (hasValue) slots.set(slot, nanoseconds);
    slots.setSynced(slot, hasValue);
  }

  /** Stores a text. JVMs overwrite texts in place, so a new text is stored only if two copies agree. */
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
