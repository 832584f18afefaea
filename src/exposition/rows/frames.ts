// The framed values that rows show, and their distributions.
import type { Row } from '../../catalogue/row.js';
import type { Frame, Source, Variable } from '../../model.js';
import type { Probe } from '../read/probe.js';
import type { Distribution } from './distribution.js';

export class Frames {
  readonly #source: Source;
  readonly #probe: Probe;
  readonly #frames = new Map<Variable, Frame>();
  readonly #distributions = new Map<Variable, Map<Row, Distribution>>();
  #stale = 0;

  constructor(source: Source, probe: Probe) {
    this.#source = source;
    this.#probe = probe;
  }

  /** Values that could not be copied whole in time and kept their last good value. */
  get stale(): number {
    return this.#stale;
  }

  /**
   * Copies a frame; false when there is none yet. One that keeps changing keeps its last good
   * value.
   */
  take(variable: Variable): boolean {
    const frame = this.#source.readFrame(variable);
    if (frame === undefined) {
      this.#stale++;
      this.#probe.again(variable);
      return false;
    }
    this.#frames.set(variable, frame);
    return true;
  }

  of(variable: Variable): Frame | undefined {
    return this.#frames.get(variable);
  }

  /** The distribution of a row and variable, if it exists. */
  shown(variable: Variable, row: Row): Distribution | undefined {
    return this.#distributions.get(variable)?.get(row);
  }

  show(variable: Variable, row: Row, distribution: Distribution): void {
    const all = this.#distributions.get(variable);
    if (all === undefined) this.#distributions.set(variable, new Map([[row, distribution]]));
    else all.set(row, distribution);
  }

  forget(variable: Variable): void {
    this.#frames.delete(variable);
    for (const each of this.#distributions.get(variable)?.values() ?? []) each.close();
    this.#distributions.delete(variable);
  }

  close(): void {
    for (const variable of [...this.#distributions.keys()]) this.forget(variable);
    this.#frames.clear();
  }
}
