// Turns the tracked objects and variables of one target into series, as the rows of the catalogue define.
import { UNCHANGED } from '../../catalogue/row.js';
import type {
  BoundsOrQuantiles,
  Conversion,
  Row,
  RowContext,
  RowInput,
  RowOutput,
  ValueReference,
} from '../../catalogue/row.js';
import { OBJECT_STATES } from '../../model.js';
import type { Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { SlotListener, SlotReader } from '../read/slot-reader.js';
import { decimalOf, opcodeOf } from '../read/slots.js';
import { PointInTime } from '../read/time.js';
import type { TrackedNodes } from '../read/tracked-nodes.js';
import { isVariable } from '../read/tree-walk.js';
import type { TreeNode } from '../read/tree-walk.js';
import type { ViewContext } from '../view-context.js';
import type { Kernel } from '../wasm/kernel.js';
import { BoundObjects } from './bound-objects.js';
import { isShared } from './bound-objects.js';
import type { BoundRow } from './bound-objects.js';
import { Distribution, FrameCopies } from './distribution.js';
import { ObservedVariables } from './observed.js';
import { SeriesRegistry } from './series-registry.js';

/**
 * Evaluates rows one after the other. The builder is the context of all rows, so that a million rows do not leave a
 * million contexts as garbage.
 */
export class MetricBuilder implements RowContext, SlotListener {
  readonly registry: SeriesRegistry;
  readonly objects: BoundObjects;
  readonly frames: FrameCopies;
  readonly observations: ObservedVariables;
  /** Whether the text differs from the last render. */
  isDirty = true;
  readonly #kernel: Kernel;
  readonly #nodes: TrackedNodes;
  readonly #slotReader: SlotReader;
  readonly #times: PointInTime;
  /** The variable that a row is evaluated for. */
  variable!: Variable;
  #row!: Row;
  /** Whether the row is evaluated as if `variable` had no value, because it was unsynced, removed or replaced. */
  #losesValue = false;

  constructor(context: ViewContext) {
    this.#kernel = context.kernel;
    this.#nodes = context.nodes;
    this.#slotReader = context.slotReader;
    this.#times = new PointInTime(context.timeZone);
    this.registry = new SeriesRegistry(context);
    this.objects = new BoundObjects(context);
    this.frames = new FrameCopies(context);
    this.observations = new ObservedVariables(context);
  }

  /** Adds a tracked node. A variable replaces an earlier variable of the same name in its object. */
  add(node: TreeNode): void {
    if (!isVariable(node)) this.objects.bind(node);
    else {
      const former = this.objects.current(node.object, node.name);
      // A subtree is bound in slices, so the variable that was published later may be added first.
      if (former !== undefined && former.id < node.id) this.#hide(former);
      this.objects.add(node);
    }
  }

  /** Removes a node, which may have been untracked before. The variables of an object must be removed before it. */
  remove(node: TreeNode): void {
    this.unsynced(node);
    if (!isVariable(node)) this.objects.unbind(node);
    else {
      const earlier = this.objects.remove(node);
      if (earlier !== undefined && this.#nodes.isSynced(earlier)) this.synced(earlier);
    }
  }

  synced(node: TreeNode): void {
    this.isDirty = true;
    const rows = this.objects.rowsOf(node);
    const isComputed = rows.some(({ row }) => row.isComputed);
    // Start the comparison only now, so that it starts with the bits that the lines show.
    if (isComputed) this.#slotReader.changes.add(node);
    if (isComputed && isFramedNode(node) && !this.frames.copy(node)) return;
    for (const each of rows) this.#show(each, node);
  }

  unsynced(node: TreeNode): void {
    this.isDirty = true;
    this.#hide(node);
  }

  /** Evaluates the computed rows of a node again after a change. */
  changed(node: TreeNode): void {
    if (!this.#nodes.isSynced(node)) return;
    if (isFramedNode(node) && !this.frames.copyAgain(node)) return;
    for (const each of this.objects.rowsOf(node)) if (each.row.isComputed) this.#show(each, node);
  }

  named(name: string): Variable | undefined {
    const variable = this.objects.current(this.variable.object, name);
    if (variable === undefined || (this.#losesValue && variable.id === this.variable.id))
      return undefined;
    const input = this.#row.inputs.find((each) => each.variable === name);
    return readsType(input, variable) && this.#nodes.isSynced(variable) ? variable : undefined;
  }

  text(variable: Variable): string | undefined {
    if (!isFramed(variable.type)) {
      const bits = this.#slotReader.bits(variable);
      return bits === undefined ? undefined : decimalOf(bits, variable);
    }
    const frame = this.frames.of(variable);
    return frame?.type === 'string' ? frame.text : undefined;
  }

  seconds(text: string): number | undefined {
    return this.#times.unixSeconds(text);
  }

  reference(
    variable: Variable,
    conversion = UNCHANGED,
    wrap32 = false,
  ): ValueReference | undefined {
    const unscaled = opcodeOf(variable, wrap32);
    if (unscaled === undefined) return undefined;
    const opcode = this.#kernel.scales.scaledOpcode(unscaled, conversion);
    if (opcode === undefined) this.registry.countOmitted();
    return opcode === undefined
      ? undefined
      : { address: this.#slotReader.address(variable.slot), opcode };
  }

  distribution(shapeOf: () => BoundsOrQuantiles, conversion: Conversion): RowOutput {
    const { frames } = this;
    const row = this.#row;
    const frame = frames.of(this.variable);
    if (frame === undefined) return [];
    const shown = frames.distributionOf(this.variable, row);
    shown?.setFrame(frame);
    if (shown !== undefined) return 'unchanged';
    const distribution = new Distribution(this.#kernel, shapeOf(), conversion);
    distribution.setFrame(frame);
    frames.setDistribution(this.variable, row, distribution);
    return distribution.series;
  }

  observed(shape: BoundsOrQuantiles, conversion: Conversion): RowOutput {
    if (isFramed(this.variable.type)) return [];
    return this.observations.show(this.variable, this.#row, shape, conversion);
  }

  *closing(): Generator<void, void> {
    yield* this.observations.closing();
    yield* this.frames.closing();
    yield* this.objects.closing();
  }

  /** Removes the series that need a node. A row that reads several variables keeps its other series. */
  #hide(node: TreeNode): void {
    for (const each of this.objects.rowsOf(node)) this.#show(each, node, true);
    this.#slotReader.changes.remove(node);
    this.frames.delete(node);
    this.observations.delete(node);
  }

  /** @param losesValue whether to show the row as if the node had no value */
  #show(bound: BoundRow, node: TreeNode, losesValue = false): void {
    const { row, labels, own, nodeId, maxSeries } = bound;
    const text = labels.with(own);
    const shown = losesValue && !isShared(row) ? [] : this.#evaluate(row, node, losesValue);
    this.registry.set(row, text, nodeId, shown, maxSeries);
  }

  #evaluate(row: Row, node: TreeNode, losesValue: boolean): RowOutput {
    if (!isVariable(node)) {
      const state = OBJECT_STATES[Number(this.#slotReader.bits(node) ?? -1n)] ?? '';
      return row.ofState?.(state) ?? [];
    }
    this.variable = node;
    this.#row = row;
    this.#losesValue = losesValue;
    // A row with several inputs looks up each variable by name, and checks its type there.
    return isShared(row) || readsType(row.inputs[0], node) ? row.series(this) : [];
  }
}

const readsType = (input: RowInput | undefined, { type }: Variable): boolean =>
  input === undefined || input.types.includes(type);

const isFramedNode = (node: TreeNode): node is Variable => isVariable(node) && isFramed(node.type);
