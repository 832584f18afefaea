// The stage of one row and variable: the values of a target, as its rows see them.
import { UNCHANGED } from '../../catalogue/conversion.js';
import type { Conversion } from '../../catalogue/conversion.js';
import type { LiveValue, Shape, Shown, Stage } from '../../catalogue/stage.js';
import type { Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import type { PointInTime } from '../read/point-in-time.js';
import type { Probe } from '../read/probe.js';
import { decimalOf, isFramed, opKindOf } from '../read/slot-value.js';
import { seriesText } from '../text/labels.js';
import { Distribution } from './distribution.js';
import type { Frames } from './frames.js';
import type { HeldScales } from './held-scales.js';
import type { Observations } from './observations.js';
import type { RowUses, Use } from './row-uses.js';
import type { SeriesRegister } from './series-register.js';

/** What the stages of one target share. */
export interface StageParts {
  readonly kernel: Kernel;
  readonly probe: Probe;
  readonly uses: RowUses;
  readonly frames: Frames;
  readonly observations: Observations;
  readonly scales: HeldScales;
  readonly register: SeriesRegister;
  readonly times: PointInTime;
}

export class RowStage implements Stage {
  readonly #parts: StageParts;
  readonly #use: Use;
  readonly variable: Variable;
  /** True while its variable is losing its value. */
  readonly #isLeaving: boolean;

  constructor(parts: StageParts, use: Use, variable: Variable, isLeaving = false) {
    this.#parts = parts;
    this.#use = use;
    this.variable = variable;
    this.#isLeaving = isLeaving;
  }

  named(name: string): Variable | undefined {
    const { uses, probe } = this.#parts;
    const variable = uses.current(this.variable.object, name);
    if (variable === undefined || (this.#isLeaving && variable.id === this.variable.id))
      return undefined;
    return probe.isSynced(variable) ? variable : undefined;
  }

  text(variable: Variable): string | undefined {
    const { probe, frames } = this.#parts;
    if (!isFramed(variable)) {
      const bits = probe.bits(variable);
      return bits === undefined ? undefined : decimalOf(bits, variable);
    }
    const frame = frames.of(variable);
    return frame?.type === 'string' ? frame.text : undefined;
  }

  seconds(text: string): number | undefined {
    return this.#parts.times.unixSeconds(text);
  }

  live(variable: Variable, conversion = UNCHANGED, wrap32 = false): LiveValue | undefined {
    const kind = opKindOf(variable, wrap32);
    if (kind === undefined) return undefined;
    const { probe, scales, register } = this.#parts;
    const op = scales.op(kind, conversion);
    if (op === undefined) register.omit(1);
    return op === undefined ? undefined : { address: probe.address(variable.slot), op };
  }

  distribution(shapeOf: () => Shape, conversion: Conversion): Shown {
    const { kernel, frames } = this.#parts;
    const { row } = this.#use;
    const frame = frames.of(this.variable);
    if (frame === undefined) return [];
    const shown = frames.shown(this.variable, row);
    shown?.setFrame(frame);
    if (shown !== undefined) return 'unchanged';
    const distribution = new Distribution(kernel, shapeOf(), conversion);
    distribution.setFrame(frame);
    frames.show(this.variable, row, distribution);
    return distribution.series;
  }

  observed(shape: Shape, conversion: Conversion): Shown {
    if (isFramed(this.variable)) return [];
    const { row, labels } = this.#use;
    const series = seriesText(row.family.name, labels.text);
    return this.#parts.observations.show(this.variable, shape, conversion, series);
  }
}
