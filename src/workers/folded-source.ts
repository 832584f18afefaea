// A source with one tree for several workers, which folds the values of equal variables.
import { hostname } from 'node:os';
import { wallClockMs } from '../clock.js';
import { PolledSource, Slots } from '../foreign/polled-source.js';
import type {
  Declaration,
  ManagedObject,
  Source,
  StructureChange,
  Variable,
  Verdict,
} from '../model.js';
import { identityOf } from '../streams/choose-root.js';
import {
  ENDED,
  LEFT_OUT,
  LEFT_OUT_VARIABLES,
  LIVE,
  STALLED,
  isSame,
  nameBelow,
  newFolded,
  newWriter,
} from './folded-nodes.js';
import type { FoldedObject, Member, Worker } from './folded-nodes.js';
import { InputReader, foldedValue, keepCount } from './folded-values.js';
import type { FoldedVariable, Input } from './folded-values.js';
import { compileRules } from './row-rules.js';
import type { FoldSettings, RuleOf } from './row-rules.js';

/** Each object and variable has a slab of its own, since it may be removed alone. */
const SLAB = 1;
/** The maximum number of objects that one call of `removeOrphans` removes. */
const ORPHANS_A_POLL = 1024;
/** How long an object is shown after the last worker that had it ended, while there are other workers. */
const ORPHAN_MS = 600_000;
/** After folding this many inputs, a step ends. */
const INPUTS_A_STEP = 256;
/** The maximum number of refused variables to name. */
const MAX_REFUSALS = 16;

/** The variables of a root that count workers, and what the sums lack. */
interface WorkerCounts {
  readonly live: Variable;
  readonly stalled: Variable;
  readonly ended: Variable;
  readonly leftOut: Variable;
  readonly leftOutVariables: Variable;
}

/** The number of items that each root needs: its object, and the variables of `WorkerCounts`. */
const ROOT_ITEMS = 6;

export class FoldedSource extends PolledSource {
  /**
   * The start of the sums: the earliest start of the workers that were read before the first copy. It stays when workers
   * end: with a later start, a scraper would count again what it has counted.
   */
  startedUnixMs: number | undefined;
  readonly #ruleOf: RuleOf;
  readonly #workerLabel: string;
  readonly #nowMs: () => number;
  readonly #unixMs: () => number;
  readonly #reader = new InputReader();
  #isCopied = false;
  /** The roots by application. */
  readonly #roots = new Map<string, FoldedObject>();
  readonly #workers = new Map<Source, Worker>();
  readonly #counts = new Map<FoldedObject, WorkerCounts>();
  readonly #instance: string;
  /** The objects that no worker has, the longest orphaned first. */
  readonly #orphans = new Set<FoldedObject>();
  /** The variables to fold again at the next copy. */
  readonly #changed = new Set<FoldedVariable>();

  /**
   * @param instance the part INSTANCE of the root's id
   * @param nowMs milliseconds of a monotonic clock
   */
  constructor(
    maxItems: number,
    settings: FoldSettings,
    instance: string,
    nowMs: () => number,
    unixMs = wallClockMs,
  ) {
    super(maxItems, new Slots(SLAB));
    this.#ruleOf = compileRules(settings);
    this.#workerLabel = settings.workerLabel;
    this.#instance = instance.replaceAll('.', '_');
    this.#nowMs = nowMs;
    this.#unixMs = unixMs;
  }

  /** The number of workers whose values count, including stalled ones. */
  get size(): number {
    return this.#shownWorkers().length;
  }

  /**
   * Adds a source of a worker.
   * @param isAgain whether it reads a generation again. Its values count once it replaces the source before it
   */
  add(source: Source, key: string, isAgain: boolean): void {
    // The workers that ended together had no chance yet to take each other's place.
    if (this.#workers.size === 0)
      for (const folded of this.#orphans) folded.orphanedAtMs = this.#nowMs();
    const { startedUnixMs = Infinity } = source;
    const earliest = Math.min(startedUnixMs, this.startedUnixMs ?? Infinity);
    if (!this.#isCopied && earliest < Infinity) this.startedUnixMs = earliest;
    const state = { isWaiting: isAgain, isOpening: true, isServed: true };
    const nodes = { members: new Map(), inputs: new Map(), slots: 0 };
    const leftOut = { differing: new Map(), unplaced: new Map() };
    this.#workers.set(source, { source, key, ...state, ...nodes, ...leftOut });
  }

  /**
   * Takes the verdict on a worker. Once the worker is overdue, leaves out its gauges and texts until heartbeats resume.
   * Its counts stay in the sums, which must not fall.
   */
  judge(source: Source, { isOverdue = false }: Verdict): void {
    const worker = this.#workers.get(source);
    if (worker === undefined) return;
    if (worker.isServed !== isOverdue) return;
    worker.isServed = !isOverdue;
    if (worker.isServed)
      for (const variable of variablesBelow(source.roots)) this.#addInput(worker, variable);
    else
      for (const input of [...worker.inputs.values()])
        if (!input.folded.isCounter) this.#removeInput(worker, input, false);
  }

  /**
   * Applies changes of a worker.
   * @param hasMore whether further changes follow at once
   */
  apply(source: Source, changes: readonly StructureChange[], hasMore: boolean): void {
    const worker = this.#workers.get(source);
    if (worker === undefined) return;
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
          if (worker.differing.size + worker.unplaced.size > 0)
            for (const variable of variablesBelow([change.object])) forgetRefusal(worker, variable);
          break;
        case 'variable-removed':
          forgetRefusal(worker, change.variable);
          this.#removeInput(worker, worker.inputs.get(change.variable.id), false);
      }
    if (!hasMore) worker.isOpening = false;
  }

  /** Replaces a source by one that has read the same generation again. No sum falls. */
  replace(source: Source, by: Source): void {
    const [former, worker] = [this.#workers.get(source), this.#workers.get(by)];
    if (former === undefined || worker === undefined) return;
    worker.isWaiting = false;
    this.#reader.read(worker, this.#changed);
    const last = new Map([...former.inputs.values()].map(({ folded, value }) => [folded, value]));
    // A value without a consistent copy stays as it was.
    for (const input of worker.inputs.values()) input.value ??= last.get(input.folded);
    this.end(source, false);
  }

  /** Reads the values of a worker while its segment can still be read. They count until the worker ends or returns. */
  readLast(source: Source): void {
    const worker = this.#workers.get(source);
    if (worker !== undefined) this.#reader.read(worker, this.#changed);
  }

  /**
   * Reads the last values of a worker that has ended. They stay in sums of counters.
   * @param counts whether to keep them; false if the worker goes on under another source
   */
  end(source: Source, counts = true): void {
    const worker = this.#workers.get(source);
    if (worker === undefined) return;
    if (counts) this.#reader.read(worker, this.#changed);
    else for (const input of worker.inputs.values()) input.value = undefined;
    this.#workers.delete(source);
    for (const member of [...worker.members.values()])
      if (member.parent === undefined) {
        const ended = counts ? this.#counts.get(member.folded)?.ended : undefined;
        if (ended !== undefined) this.slots.add(ended.slot, 1n);
        this.#removeMember(worker, member, true);
      }
  }

  /** The reasons why variables are left out, up to `MAX_REFUSALS`. */
  get refusals(): readonly string[] {
    const sentences: string[] = [];
    for (const worker of this.#shownWorkers())
      for (const sentence of refusalsOf(worker))
        if (sentences.push(sentence) === MAX_REFUSALS) return sentences;
    return sentences;
  }

  /**
   * Stores the values of the metrics about workers in each root, after all changes of a poll.
   * @param stalled the server keys of stalled workers
   * @param leftOut the number of workers that are left out
   */
  storeCounts(stalled: ReadonlySet<string>, leftOut: number): void {
    let refused = 0;
    for (const { differing, unplaced } of this.#shownWorkers())
      refused += differing.size + unplaced.size;
    for (const [root, counts] of this.#counts) {
      const shown = [...root.members].filter(({ worker }) => !worker.isWaiting);
      const hanging = shown.filter(({ worker }) => stalled.has(worker.key));
      this.slots.setFirst(counts.live.slot, BigInt(shown.length));
      this.slots.setFirst(counts.stalled.slot, BigInt(hanging.length));
      this.slots.setSynced(counts.ended.slot, true);
      this.slots.setFirst(counts.leftOut.slot, BigInt(leftOut));
      this.slots.setFirst(counts.leftOutVariables.slot, BigInt(refused));
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
      // The next ones were orphaned later.
      else return;
      if (++visited >= ORPHANS_A_POLL) return;
    }
  }

  /** Reads the values of the workers, and folds those that have changed. */
  *computingValues(): Generator<void, void> {
    this.#isCopied = true;
    for (const worker of this.#workers.values())
      if (!worker.isWaiting) yield* this.#reader.reading(worker, this.#changed);
    let inputs = 0;
    for (const folded of this.#changed) {
      this.#changed.delete(folded);
      this.#store(folded);
      inputs += folded.inputs.size;
      if (inputs < INPUTS_A_STEP) continue;
      inputs = 0;
      yield;
    }
  }

  #addMember(worker: Worker, object: ManagedObject): void {
    const { id, name, className, parent } = object;
    const above = parent && worker.members.get(parent.id);
    // Without room for an object, its variables and all nodes below it are left out.
    if (parent !== undefined && above === undefined) return;
    const siblings = above === undefined ? this.#roots : above.folded.children;
    const suffix = parent === undefined ? '' : nameBelow(parent.name, name);
    const key = parent === undefined ? identityOf(object).application : `${suffix} ${className}`;
    const folded =
      siblings.get(key) ?? this.#addObject(worker, siblings, key, object, above?.folded);
    if (folded === undefined) return;
    const member: Member = {
      worker,
      folded,
      own: undefined,
      parent: above,
      children: new Set<Member>(),
      inputs: new Set<Input>(),
      id,
    };
    above?.children.add(member);
    folded.members.add(member);
    worker.members.set(id, member);
  }

  #addObject(
    worker: Worker,
    siblings: Map<string, FoldedObject>,
    key: string,
    { name, className, parent }: ManagedObject,
    above: FoldedObject | undefined,
  ): FoldedObject | undefined {
    if (!this.hasRoom(above === undefined ? ROOT_ITEMS : 1)) return undefined;
    const writer = newWriter();
    const foldedName =
      parent === undefined || above === undefined
        ? `${hostname()}.${this.#instance}.${key}`
        : above.object.name + nameBelow(parent.name, name);
    const startedUnixMs = this.#startOf(worker);
    const facts = { name: foldedName, className, startedUnixMs };
    const object = this.addObject(writer, facts, above?.object);
    const folded = newFolded(object, writer, siblings, key);
    if (above === undefined)
      this.#counts.set(folded, {
        live: this.addVariable(writer, object, LIVE),
        stalled: this.addVariable(writer, object, STALLED),
        ended: this.addVariable(writer, object, ENDED),
        leftOut: this.addVariable(writer, object, LEFT_OUT),
        leftOutVariables: this.addVariable(writer, object, LEFT_OUT_VARIABLES),
      });
    return folded;
  }

  /** The start of a new object; undefined for that of the source. */
  #startOf({ source, isOpening, isWaiting }: Worker): number | undefined {
    if (!this.#isCopied) return undefined;
    return isOpening && !isWaiting ? source.startedUnixMs : this.#unixMs();
  }

  #addInput(worker: Worker, variable: Variable): void {
    const { id, slot, name, declaration, object } = variable;
    const member = worker.members.get(object.id);
    // If heartbeats resume, the counts of the worker are still there, and other variables may come by later changes.
    if (worker.inputs.has(id)) return;
    const rule = this.#ruleOf(object.className, declaration);
    if (rule !== 'counter' && !worker.isServed) return;
    const folded = member && this.#foldedVariable(member, name, declaration, rule);
    if (member === undefined || folded === undefined) {
      worker.unplaced.set(id, variable);
      return;
    }
    if (!isSame(folded.variable.declaration, declaration)) {
      // If no worker has the earlier variable any more, this one takes its place.
      if (folded.inputs.size === 0) {
        this.#removeVariable(folded);
        this.#addInput(worker, variable);
        return;
      }
      worker.differing.set(id, { variable, folded });
      return;
    }
    const input = { variable, folded, low: -1, high: -1, value: undefined, read: 0 };
    forgetRefusal(worker, variable);
    member.inputs.add(input);
    folded.inputs.add(input);
    worker.inputs.set(id, input);
    worker.slots = Math.max(worker.slots, slot + 1);
  }

  #foldedVariable(
    member: Member,
    name: string,
    declaration: Declaration,
    rule: ReturnType<RuleOf>,
  ): FoldedVariable | undefined {
    const owner = rule === 'each' ? this.#ownOf(member) : member.folded;
    const known = owner?.variables.get(name);
    if (known !== undefined || owner === undefined || !this.hasRoom()) return known;
    const { object, variables } = owner;
    const writer = newWriter();
    const isCounter = rule === 'counter';
    const folded: FoldedVariable = {
      writer,
      variable: this.addVariable(writer, object, {
        ...declaration,
        ...(declaration.type === 'summary' && { schema: [] }),
      }),
      siblings: variables,
      // A variable with the rule `each` has only one value.
      rule: rule === 'counter' || rule === 'each' ? 'sum' : rule,
      ...{ isCounter, inputs: new Set<Input>(), ended: undefined, shown: -Infinity },
    };
    variables.set(name, folded);
    return folded;
  }

  /** The object with the variables of one worker; undefined if there is no room for it. */
  #ownOf(member: Member): FoldedObject | undefined {
    const { folded, worker } = member;
    let own = member.own ?? folded.owns.get(worker.key);
    if (own === undefined) {
      if (!this.hasRoom(2)) return undefined;
      const { name, className } = folded.object;
      const labels = { [this.#workerLabel]: worker.key };
      const writer = newWriter();
      const object = this.addObject(writer, { name, className, labels }, folded.object);
      own = newFolded(object, writer, folded.owns, worker.key);
    }
    own.members.add(member);
    member.own = own;
    return own;
  }

  /** @param hasEnded whether the worker has ended, rather than removed the object */
  #removeMember(worker: Worker, member: Member | undefined, hasEnded: boolean): void {
    if (member === undefined) return;
    for (const child of [...member.children]) this.#removeMember(worker, child, hasEnded);
    for (const input of [...member.inputs]) this.#removeInput(worker, input, hasEnded, member);
    const { folded, own, parent, id } = member;
    own?.members.delete(member);
    if (own?.members.size === 0) this.#removeObject(own);
    parent?.children.delete(member);
    folded.members.delete(member);
    worker.members.delete(id);
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
    const { folded, variable } = input;
    worker.inputs.delete(variable.id);
    member?.inputs.delete(input);
    folded.inputs.delete(input);
    // Without other inputs, a variable that a running worker removes is gone, and begins anew if it returns.
    const staysCounted = folded.isCounter && (hasEnded || folded.inputs.size > 0);
    if (!staysCounted && folded.inputs.size === 0) folded.ended = undefined;
    else if (folded.isCounter) keepCount(input);
    this.#changed.add(folded);
    // A variable without a value would keep a new view of the tree from being ready.
    if (folded.inputs.size === 0 && folded.ended === undefined) this.#removeVariable(folded);
    if (folded.inputs.size === 0) this.#addDiffering(folded);
  }

  /** Adds the refused variables that differ from `folded`, which no worker has any more. */
  #addDiffering(folded: FoldedVariable): void {
    for (const worker of this.#workers.values())
      for (const [id, { variable, folded: other }] of worker.differing)
        if (other === folded) {
          worker.differing.delete(id);
          this.#addInput(worker, variable);
        }
  }

  #removeVariable(folded: FoldedVariable): void {
    this.#changed.delete(folded);
    folded.siblings.delete(folded.variable.name);
    this.removeVariable(folded.writer, folded.variable);
  }

  #removeObject(folded: FoldedObject): void {
    for (const child of [...folded.children.values()]) this.#removeObject(child);
    this.#orphans.delete(folded);
    this.#counts.delete(folded);
    for (const variable of [...folded.variables.values()]) this.#removeVariable(variable);
    folded.siblings.delete(folded.key);
    this.remove(folded.writer, folded.object);
  }

  /** Stores the folded value. Without a value, the variable loses its series. */
  #store(folded: FoldedVariable): void {
    const { variable } = folded;
    const value = foldedValue(folded);
    if (value === undefined) this.slots.setSynced(variable.slot, false);
    else if (typeof value === 'bigint')
      this.slots.setFirst(variable.slot, BigInt.asIntN(64, value));
    else {
      this.setFrame(variable, value);
      this.slots.setSynced(variable.slot, true);
    }
  }

  /** The workers whose values count. */
  #shownWorkers(): readonly Worker[] {
    return [...this.#workers.values()].filter(({ isWaiting }) => !isWaiting);
  }
}

function* refusalsOf({ differing, unplaced }: Worker): Generator<string> {
  for (const { variable } of differing.values())
    yield `${pathOf(variable)}: its type, kind or bounds differ from those of another worker`;
  for (const variable of unplaced.values())
    yield `${pathOf(variable)}: the limit segment_max_items is reached`;
}

const pathOf = ({ object, name }: Variable): string => `${object.name}.${name}`;

function forgetRefusal({ differing, unplaced }: Worker, { id }: Variable): void {
  differing.delete(id);
  unplaced.delete(id);
}

function* variablesBelow(objects: Iterable<ManagedObject>): Generator<Variable> {
  for (const { variables, children } of objects) {
    yield* variables;
    yield* variablesBelow(children);
  }
}
