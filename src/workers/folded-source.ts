// A source with one tree for several workers: folds the values of equal variables.
import { hostname } from 'node:os';
import { fold, sumOf, withSum, withoutQuantiles } from '../foreign/fold.js';
import type { FoldRule, InputValue } from '../foreign/fold.js';
import { PolledSource, Slots, gauge } from '../foreign/polled-source.js';
import type { PolledObject, SlotWriter } from '../foreign/polled-source.js';
import type { Declaration, ManagedObject, Source, StructureChange, Variable } from '../model.js';
import { isFramed } from '../published.js';
import type { ValueType } from '../published.js';
import { fitsAny } from '../rules/formats.js';
import { identityOf } from '../streams/choose-root.js';
import type { WorkersSettings } from './settings.js';

/** A variable of a worker, with the last value that was read. */
interface Input {
  readonly variable: Variable;
  readonly folded: FoldedVariable;
  /** The halves of its slot at the last read; -1 before the first value. */
  low: number;
  high: number;
  value: InputValue | undefined;
}

/** A variable of the folded tree. */
interface FoldedVariable {
  readonly variable: Variable;
  readonly writer: SlotWriter;
  readonly rule: FoldRule;
  /** Whether the values of inputs that have ended stay in the sum. */
  readonly isCounter: boolean;
  readonly inputs: Set<Input>;
  /** The sum of the inputs that have ended. */
  ended: InputValue | undefined;
  /** The last sum of doubles that was shown. */
  shown: number;
}

/** An object of the folded tree, which combines the objects with the same path and class in all workers. */
interface FoldedObject {
  readonly object: PolledObject;
  readonly writer: SlotWriter;
  readonly siblings: Map<string, FoldedObject>;
  /** The key of the object in `siblings`. */
  readonly key: string;
  readonly children: Map<string, FoldedObject>;
  readonly variables: Map<string, FoldedVariable>;
  readonly members: Set<Member>;
  /** When the last worker that had the object ended. */
  orphanedAtMs: number | undefined;
}

/** An object of a worker. */
interface Member {
  readonly folded: FoldedObject;
  readonly parent: Member | undefined;
  readonly children: Set<Member>;
  readonly inputs: Set<Input>;
  readonly id: number;
}

/** A live generation of a worker. */
interface Worker {
  readonly source: Source;
  readonly members: Map<number, Member>;
  readonly inputs: Map<number, Input>;
  /** The number of slots to read. */
  slots: number;
}

/** Each object and variable has a slab of its own, since it may be removed alone. */
const SLAB = 1;
/** The maximum number of objects that one call of `removeOrphans` removes. */
const ORPHANS_A_POLL = 1024;
/** The relative error of a sum of doubles whose terms are added in another order. */
const ROUNDING = 1e-9;
/** How long an object is shown after the last worker that had it ended, while there are other workers. */
const ORPHAN_MS = 600_000;
/** The maximum number of refused variables to name. */
const MAX_REFUSALS = 16;
const newWriter = (): SlotWriter => ({ writeSlots: () => undefined });

/** Equal variables of all workers have one declaration, except for the quantiles, which the folded variable lacks. */
const isSame = (one: Declaration, other: Declaration): boolean =>
  one.type === other.type &&
  one.kind === other.kind &&
  (one.type !== 'histogram' || one.schema.join() === other.schema.join());

export class FoldedSource extends PolledSource {
  readonly #settings: WorkersSettings;
  readonly #nowMs: () => number;
  /** The roots by application. */
  readonly #roots = new Map<string, FoldedObject>();
  readonly #workers = new Map<Source, Worker>();
  readonly #counts = new Map<FoldedObject, { readonly live: Variable; readonly ended: Variable }>();
  readonly #instance: string;
  /** The objects that no worker has, in the order of time. */
  readonly #orphans = new Set<FoldedObject>();
  /** The variables to fold again at the next copy. */
  readonly #changed = new Set<FoldedVariable>();
  /** The refused variables, with the reasons. */
  readonly refusals = new Map<string, { readonly source: Source; readonly reason: string }>();
  #values = new Uint32Array();
  #words = new Uint32Array();

  /**
   * @param instance the part INSTANCE of the root's id
   * @param nowMs milliseconds of a monotonic clock
   */
  constructor(maxItems: number, settings: WorkersSettings, instance: string, nowMs: () => number) {
    super(maxItems, new Slots(SLAB));
    this.#settings = settings;
    this.#instance = instance.replaceAll('.', '_');
    this.#nowMs = nowMs;
  }

  /** The number of live workers. */
  get size(): number {
    return this.#workers.size;
  }

  /** Applies changes of a worker. The first changes of a source add a worker. */
  apply(source: Source, changes: readonly StructureChange[]): void {
    let worker = this.#workers.get(source);
    if (worker === undefined) {
      // The workers that ended together had no chance yet to take each other's place.
      if (this.#workers.size === 0)
        for (const folded of this.#orphans) folded.orphanedAtMs = this.#nowMs();
      worker = { source, members: new Map(), inputs: new Map(), slots: 0 };
      this.#workers.set(source, worker);
    }
    for (const change of changes)
      switch (change.kind) {
        case 'object-added':
          this.#addMember(worker, change.object);
          break;
        case 'variable-added':
          this.#addInput(worker, change.variable);
          break;
        case 'object-removed':
          this.#removeMember(worker, worker.members.get(change.object.id), false);
          break;
        case 'variable-removed':
          this.#removeInput(worker, worker.inputs.get(change.variable.id), false);
      }
  }

  /**
   * Reads the last values of a worker that has ended. They stay in sums of counters.
   * @param counts whether to keep them; false if the worker goes on under another source
   */
  end(source: Source, counts = true): void {
    const worker = this.#workers.get(source);
    if (worker === undefined) return;
    if (counts) this.#read(worker, this.#changed);
    else for (const input of worker.inputs.values()) input.value = undefined;
    this.#workers.delete(source);
    for (const [name, { source: refused }] of this.refusals)
      if (refused === source) this.refusals.delete(name);
    for (const member of [...worker.members.values()])
      if (member.parent === undefined) {
        const ended = counts ? this.#counts.get(member.folded)?.ended : undefined;
        if (ended !== undefined) this.slots.add(ended.slot, 1n);
        this.#removeMember(worker, member, true);
      }
  }

  /** Removes objects that no worker has had for a long time. */
  removeOrphans(): void {
    if (this.#workers.size === 0) return;
    let visited = 0;
    for (const folded of this.#orphans) {
      const isDue = this.#nowMs() - (folded.orphanedAtMs ?? 0) >= ORPHAN_MS;
      if (folded.members.size > 0) this.#orphans.delete(folded);
      else if (isDue) this.#removeObject(folded);
      // The orphans are in the order of time.
      else return;
      if (++visited >= ORPHANS_A_POLL) return;
    }
  }

  beginCopy(): void {
    for (const worker of this.#workers.values()) this.#read(worker, this.#changed);
    for (const folded of this.#changed) this.#store(folded);
    this.#changed.clear();
  }

  #addMember(worker: Worker, object: ManagedObject): void {
    const { id, name, className, parent } = object;
    const above = parent && worker.members.get(parent.id);
    // Nodes below a refused object are refused, too.
    if (parent !== undefined && above === undefined) return;
    const siblings = above === undefined ? this.#roots : above.folded.children;
    const suffix = parent === undefined ? '' : nameBelow(parent.name, name);
    const key = parent === undefined ? identityOf(object).application : `${suffix} ${className}`;
    const folded = siblings.get(key) ?? this.#addObject(siblings, key, object, above?.folded);
    if (folded === undefined) {
      this.#refuse(worker, name, 'the limit segment_max_items is reached');
      return;
    }
    const member = {
      folded,
      parent: above,
      children: new Set<Member>(),
      inputs: new Set<Input>(),
      id,
    };
    above?.children.add(member);
    folded.members.add(member);
    worker.members.set(id, member);
    if (above === undefined) this.#countWorkers(folded);
  }

  #addObject(
    siblings: Map<string, FoldedObject>,
    key: string,
    { name, className, parent }: ManagedObject,
    above: FoldedObject | undefined,
  ): FoldedObject | undefined {
    if (!this.hasRoom(above === undefined ? 3 : 1)) return undefined;
    const writer = newWriter();
    const foldedName =
      parent === undefined || above === undefined
        ? `${hostname()}.${this.#instance}.${key}`
        : above.object.name + nameBelow(parent.name, name);
    const object = this.addObject(writer, { name: foldedName, className }, above?.object);
    const folded: FoldedObject = {
      ...{ object, writer, siblings, key, orphanedAtMs: undefined },
      ...{ children: new Map(), variables: new Map(), members: new Set() },
    };
    siblings.set(key, folded);
    if (above === undefined)
      this.#counts.set(folded, {
        live: this.addVariable(writer, object, LIVE),
        ended: this.addVariable(writer, object, ENDED),
      });
    return folded;
  }

  #countWorkers(root: FoldedObject): void {
    const counts = this.#counts.get(root);
    if (counts === undefined) return;
    this.slots.setFirst(counts.live.slot, BigInt(root.members.size));
    this.slots.setSynced(counts.ended.slot, true);
  }

  #addInput(worker: Worker, variable: Variable): void {
    const { id, slot, name, declaration, object } = variable;
    const member = worker.members.get(object.id);
    if (member === undefined) return;
    const folded = this.#foldedVariable(member.folded, name, declaration);
    if (folded === undefined) {
      this.#refuse(worker, `${object.name}.${name}`, 'the limit segment_max_items is reached');
      return;
    }
    if (!isSame(folded.variable.declaration, declaration)) {
      this.#refuse(
        worker,
        `${object.name}.${name}`,
        'its type, kind or bounds differ from those of another worker',
      );
      return;
    }
    const input = { variable, folded, low: -1, high: -1, value: undefined };
    member.inputs.add(input);
    folded.inputs.add(input);
    worker.inputs.set(id, input);
    worker.slots = Math.max(worker.slots, slot + 1);
  }

  #foldedVariable(
    { object, variables }: FoldedObject,
    name: string,
    declaration: Declaration,
  ): FoldedVariable | undefined {
    const known = variables.get(name);
    if (known !== undefined || !this.hasRoom()) return known;
    const { type, kind } = declaration;
    const { gauges, min, max, counters } = this.#settings;
    const fits = (patterns: readonly string[]) => patterns.length > 0 && fitsAny(name, patterns);
    const isCounter =
      kind === 'counter' || type === 'histogram' || type === 'summary' || fits(counters);
    const rule = isCounter ? 'sum' : fits(min) ? 'min' : fits(max) ? 'max' : gauges;
    const writer = newWriter();
    const folded: FoldedVariable = {
      writer,
      variable: this.addVariable(writer, object, {
        ...declaration,
        ...(type === 'summary' && { schema: [] }),
      }),
      ...{ rule, isCounter, inputs: new Set<Input>(), ended: undefined, shown: -Infinity },
    };
    variables.set(name, folded);
    return folded;
  }

  /** @param hasEnded whether the worker has ended, rather than removed the object */
  #removeMember(worker: Worker, member: Member | undefined, hasEnded: boolean): void {
    if (member === undefined) return;
    for (const child of [...member.children]) this.#removeMember(worker, child, hasEnded);
    for (const input of [...member.inputs]) this.#removeInput(worker, input, hasEnded, member);
    const { folded, parent, id } = member;
    parent?.children.delete(member);
    folded.members.delete(member);
    worker.members.delete(id);
    if (this.#counts.has(folded)) this.#countWorkers(folded);
    if (folded.members.size > 0) return;
    // The counters of a worker that ended count until another worker has had time to take its place.
    folded.orphanedAtMs = this.#nowMs();
    this.#orphans.delete(folded);
    if (hasEnded || folded.children.size > 0 || parent === undefined) this.#orphans.add(folded);
    else this.#removeObject(folded);
  }

  #removeInput(
    worker: Worker,
    input: Input | undefined,
    hasEnded: boolean,
    member = input && worker.members.get(input.variable.object.id),
  ): void {
    if (input === undefined) return;
    const { folded, value, variable } = input;
    worker.inputs.delete(variable.id);
    member?.inputs.delete(input);
    folded.inputs.delete(input);
    // Without other inputs, a variable that a running worker removes is gone, and begins anew if it returns.
    const staysCounted = folded.isCounter && (hasEnded || folded.inputs.size > 0);
    if (!staysCounted && folded.inputs.size === 0) folded.ended = undefined;
    else if (folded.isCounter && value !== undefined && !isNaNDouble(variable.type, value))
      folded.ended =
        folded.ended === undefined ? value : fold(variable.type, 'sum', folded.ended, value);
    this.#changed.add(folded);
    // A variable without a value would keep a new view of the tree from being ready.
    if (folded.inputs.size === 0 && folded.ended === undefined && member !== undefined)
      this.#removeVariable(member.folded, folded);
  }

  #removeVariable(object: FoldedObject, folded: FoldedVariable): void {
    this.#changed.delete(folded);
    object.variables.delete(folded.variable.name);
    this.removeVariable(folded.writer, folded.variable);
  }

  #removeObject(folded: FoldedObject): void {
    for (const child of [...folded.children.values()]) this.#removeObject(child);
    this.#orphans.delete(folded);
    const counts = this.#counts.get(folded);
    this.#counts.delete(folded);
    for (const { writer, variable } of [...folded.variables.values()])
      this.removeVariable(writer, variable);
    if (counts !== undefined) folded.variables.clear();
    folded.siblings.delete(folded.key);
    this.remove(folded.writer, folded.object);
  }

  /** Reads the values of a worker. If the segment cannot be read, the last values stay. */
  #read({ source, inputs, slots }: Worker, changed: Set<FoldedVariable>): void {
    if (this.#words.length < slots) {
      this.#values = new Uint32Array(2 * slots);
      this.#words = new Uint32Array(slots);
    }
    const [values, words] = [this.#values, this.#words];
    let read: number;
    try {
      read = Math.min(
        source.readSlots(0, slots, new Uint8Array(values.buffer, 0, slots * 8)),
        source.readWords(0, slots, new Uint8Array(words.buffer, 0, slots * 4)),
      );
    } catch {
      return;
    }
    for (const input of inputs.values()) {
      const { slot, incarnation, type } = input.variable;
      const [low = 0, high = 0] = [values[2 * slot], values[2 * slot + 1]];
      const word = words[slot] ?? 0;
      if (slot >= read || word >>> 1 !== incarnation) continue;
      if ((word & 1) === 0) {
        // The series of the worker has ended. A count stays.
        if (input.value === undefined || input.folded.isCounter) continue;
        Object.assign(input, { value: undefined, low: -1, high: -1 });
        changed.add(input.folded);
        continue;
      }
      if (low === input.low && high === input.high) continue;
      const value = isFramed(type)
        ? source.readFrame(input.variable)
        : (BigInt(high) << 32n) | BigInt(low);
      if (value === undefined) continue;
      input.value = withoutQuantiles(value);
      input.low = low;
      input.high = high;
      changed.add(input.folded);
    }
  }

  /** Stores the folded value. Without a value, the variable loses its series. */
  #store(target: FoldedVariable): void {
    const { variable, rule, inputs, ended } = target;
    let folded = ended;
    for (const { value } of inputs)
      if (value !== undefined)
        folded = folded === undefined ? value : fold(variable.type, rule, folded, value);
    if (target.isCounter && folded !== undefined) folded = this.#withoutRounding(target, folded);
    if (folded === undefined) this.slots.setSynced(variable.slot, false);
    else if (typeof folded === 'bigint')
      this.slots.setFirst(variable.slot, BigInt.asIntN(64, folded));
    else {
      this.setFrame(variable, folded);
      this.slots.setSynced(variable.slot, true);
    }
  }

  /** Keeps the last sum of doubles if the new one is lower by a rounding error: a scraper would see a reset. */
  #withoutRounding(target: FoldedVariable, folded: InputValue): InputValue {
    const sum = sumOf(target.variable.type, folded);
    if (sum === undefined) return folded;
    const isError = sum < target.shown && target.shown - sum <= Math.abs(sum) * ROUNDING;
    if (!isError) target.shown = sum;
    return isError ? withSum(folded, target.shown) : folded;
  }

  #refuse({ source }: Worker, name: string, reason: string): void {
    if (this.refusals.size < MAX_REFUSALS) this.refusals.set(name, { source, reason });
  }
}

const isNaNDouble = (type: ValueType, value: InputValue): boolean =>
  type === 'f64' && Number.isNaN(sumOf(type, value));

const nameBelow = (parent: string, name: string): string =>
  name.startsWith(`${parent}.`) ? name.slice(parent.length) : `.${name}`;

const LIVE = gauge('workers', 'i64', '', {
  name: 'shm_workers',
  help: 'Workers whose values are in the metrics of the application.',
  labels: {},
});
const ENDED: Declaration = {
  ...gauge('endedWorkers', 'u64', '', {
    name: 'shm_workers_ended_total',
    help: 'Workers that have ended. Their counters stay in the sums.',
    labels: {},
  }),
  kind: 'counter',
};
