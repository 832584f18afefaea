// Reports the exporter's targets after the start: one line when one is lost, one when it is back.

export class ExporterNews {
  readonly #lost = new Set<string>();

  /** Converts a line of the exporter's log to a readable one; undefined for other lines. */
  of(line: string): string | undefined {
    const [, target = '', event = ''] =
      / (?:info|warning) (target \S+ on \S+) (waiting on .*|ready: .*)$/.exec(line) ?? [];
    if (event.startsWith('waiting') && !this.#lost.has(target)) {
      this.#lost.add(target);
      return `the exporter: ${target} is not ready: ${event}`;
    }
    if (event.startsWith('ready') && this.#lost.delete(target))
      return `the exporter: ${target} is ready again`;
    return undefined;
  }
}
