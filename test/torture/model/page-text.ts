// seriesOfPage() returns the series of a page by their names in the model.
import type { ReadyAnswer } from '#app/model.js';
import { linesOf } from '../../support/snapshot-of.js';
import type { PageSeries } from './page-model.js';

const LINE = /^(\w+?)(_bucket|_sum|_count)?\{object="([^"]*)"(?:,(?:value|le)="([^"]*)")?\} (\S+)$/;

/** @throws Error for a repeated series, and for a line that does not come from a publication */
export function seriesOfPage(page: ReadyAnswer): PageSeries {
  const shown = new Map<string, string>();
  for (const line of seriesLines(page)) {
    const [, name, suffix, path, label, number = ''] = LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`no series of a publication: ${line}`);
    const series = `${name} ${path}`;
    const known = shown.get(series);
    if (known !== undefined && suffix === undefined) throw new Error(`a second series ${series}`);
    shown.set(series, known === undefined ? part() : `${known} ${part()}`);
    function part(): string {
      if (suffix === undefined) return label ?? number;
      return `${label ?? suffix.slice(1)}:${number}`;
    }
  }
  return shown;
}

const STATE_LINE = /^demo_(top|unit|part)\d?_state\{(.*)demo_\w+_state="(\w+)"\} 1$/;

/**
 * Returns the states of objects on a page of the catalogue EVERY_ROW.
 * @throws Error for an object with two states
 */
export function statesOfPage(page: ReadyAnswer): PageSeries {
  const shown = new Map<string, string>();
  for (const line of seriesLines(page)) {
    const [, className, labels = '', state] = STATE_LINE.exec(line) ?? [];
    if (className === undefined || state === undefined) continue;
    const path = [...labels.matchAll(/="(\w+)"/g)].map(([, name]) => name).join('.');
    const series = `demo_${className}_state ${path === '' ? '@root' : path}`;
    if (shown.has(series)) throw new Error(`a second state: ${line}`);
    shown.set(series, state);
  }
  return shown;
}

const seriesLines = ({ snapshot }: ReadyAnswer): string[] =>
  linesOf(snapshot)
    .split('\n')
    .filter((line) => line !== '');
