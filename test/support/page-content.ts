// The content of a page of metrics, for comparisons with the page of another library.
import { TEXT } from '#app/exposition/page/text-page.js';
import { samplesIn } from '#app/exposition/text/text-syntax.js';
import type { Served } from './served.js';

/** The headers and samples of a page, sorted. */
export interface PageContent {
  readonly headers: readonly string[];
  readonly samples: readonly string[];
}

/**
 * The samples of a page, with numbers as JavaScript writes them, and the headers of their metrics. A registry also shows
 * headers of metrics without samples.
 */
export function contentOf(page: string): PageContent {
  const samples = [...samplesIn(page.replace(/^#.*\n|^\n/gm, ''))];
  const hasSamples = (header: string): boolean =>
    samples.some(({ name }) => name.replace(/_(bucket|sum|count)$/, '') === header.split(' ')[2]);
  return {
    headers: (page.match(/^# .*$/gm) ?? []).filter(hasSamples).sort(),
    samples: samples
      .map(({ name, labels, value }) => [name, Object.entries(labels).sort(), Number(value)])
      .map((sample) => JSON.stringify(sample))
      .sort(),
  };
}

/** The page of a served target, without internal metrics; the reason if the target is not ready. */
export const pageOf = (served: Served): string =>
  served.answer((answer) => {
    if (answer.kind === 'waiting') return answer.status.progress.reason;
    const page = TEXT.page({ snapshot: answer.snapshot, internal: [] });
    const text = Buffer.concat([...page.buffers]).toString();
    page.release();
    return text;
  });

/** The content of the page of a served target. */
export const shown = (served: Served): PageContent => contentOf(pageOf(served));
