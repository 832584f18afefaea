// seriesOfPage(): the series of a page, with the names of the model.
import { familiesOf } from '#app/exposition/page/scope.js';
import type { FamilyText, ReadyAnswer } from '#app/model.js';
import type { PageSeries } from './page-model.js';

const LINE = /^(\w+?)(_bucket|_sum|_count)?\{object="([^"]*)"(?:,(?:value|le)="([^"]*)")?\} (\S+)$/;

/** @throws Error for a line that no publication makes, and for a repeated series */
export function seriesOfPage(page: ReadyAnswer): PageSeries {
  const shown = new Map<string, string>();
  for (const line of linesOf(familiesOf(page))) {
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

function linesOf(families: readonly FamilyText[]): string[] {
  const text = families.flatMap(({ buffers }) => buffers.map(String)).join('');
  return text.split('\n').filter((line) => line !== '');
}
