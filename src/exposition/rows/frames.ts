// The framed values that rows show, and their distributions.
import type { Row } from '../../catalogue/row.js';
import type { Frame, Source, Variable } from '../../model.js';
import type { Probe } from '../read/probe.js';
import type { Distribution } from './distribution.js';

export class Frames {
  readonly #source: Source;
  readonly #probe: Probe;
  /** By the variable's id. */
  readonly #frames = new Map<number, Frame>();
  readonly #distributions = new Map<number, Map<Row, Distribution>>();
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
    this.#frames.set(variable.id, frame);
    return true;
  }

  of(variable: Variable): Frame | undefined {
    return this.#frames.get(variable.id);
  }

  /** The distribution of a row and variable, if it exists. */
  shown(variable: Variable, row: Row): Distribution | undefined {
    return this.#distributions.get(variable.id)?.get(row);
  }

  show(variable: Variable, row: Row, distribution: Distribution): void {
    const all = this.#distributions.get(variable.id);
    if (all === undefined) this.#distributions.set(variable.id, new Map([[row, distribution]]));
    else all.set(row, distribution);
  }

  forget({ id }: Pick<Variable, 'id'>): void {
    this.#frames.delete(id);
    for (const each of this.#distributions.get(id)?.values() ?? []) each.close();
    this.#distributions.delete(id);
  }

  close(): void {
    for (const id of [...this.#distributions.keys()]) this.forget({ id });
    this.#frames.clear();
  }
}
