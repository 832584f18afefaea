// freshPage() returns the page of a view that is created for one read of a segment, and so has no history.
import { parseCatalogue } from '#app/catalogue/catalogue.js';
import { compileFilters, compilePathLabels } from '#app/catalogue/match/filters.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { TargetView } from '#app/exposition/target-view.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import type { ReadyAnswer, TargetStatus } from '#app/model.js';
import type { SegmentFile } from '#app/native/os/shared-memory.js';
import { readHeader } from '#app/native/segment/segment-header.js';
import { SegmentSource } from '#app/native/segment/segment-source.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import { runToEnd } from '#app/run-to-end.js';

/** Returns the page of an answer without internal metrics. */
export function pageOf(answer: Omit<ReadyAnswer, 'internal'>): string {
  const page = TEXT.page({ ...answer, internal: [] });
  const text = page.buffers.map((each) => Buffer.from(each).toString()).join('');
  page.release();
  return text;
}

/** Returns the page of the only root of a segment, or undefined if there is no root. */
export function freshPage(
  file: SegmentFile,
  definition: TargetDefinition,
  status: TargetStatus,
): string | undefined {
  const source = new SegmentSource(file, readHeader(file));
  while (source.readChanges().hasMore);
  const [root] = source.roots;
  if (root === undefined) return undefined;
  const { catalogue: given } = definition;
  const catalogue = given && parseCatalogue(given);
  const view = new TargetView({
    ...{ app: definition.app, kernel: new Kernel(), source, root, catalogue },
    filters: compileFilters(catalogue, definition),
    showUncatalogued: definition.showUncatalogued,
    pathLabels: compilePathLabels(definition.pathLabels),
    ...{ variable: '', timeZone: '', onClash: () => undefined },
  });
  while (view.bindMore());
  for (let round = 0; round < 2; round++) {
    runToEnd(view.copyingValues());
    while (view.bindMore());
  }
  return pageOf({ kind: 'ready', snapshot: runToEnd(view.rendering()), status, labels: {} });
}
