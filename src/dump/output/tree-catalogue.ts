// What a segment holds, as a draft of a catalogue file.
import { Fault } from '../../errors.js';
import { identityOf } from '../../streams/root-identity.js';
import { catalogueDraft } from '../catalogue/catalogue-draft.js';
import { Survey } from '../catalogue/survey.js';
import type { SegmentFacts } from '../segment/seen-segment.js';
import { treeItems } from '../tree/tree-items.js';
import type { Choice } from '../tree/tree-items.js';
import type { TreeReading } from '../tree/tree-reading.js';

/**
 * The lines of a catalogue for the first root of what was chosen.
 * @throws Fault USAGE if nothing was
 */
export function* treeCatalogue(
  { name: segment }: SegmentFacts,
  reading: TreeReading,
  choice: Choice,
): Generator<string> {
  let survey: Survey | undefined;
  let origin = { segment, root: '', application: '' };
  for (const item of treeItems(reading, choice)) {
    if (survey === undefined && item.kind === 'object') {
      const { root } = item;
      origin = { segment, root: root.name, application: identityOf(root).application };
      survey = new Survey(root, reading);
    }
    survey?.take(item);
  }
  if (survey === undefined)
    throw new Fault('USAGE', '--catalogue: there is no object to draft it for');
  yield* catalogueDraft(survey, origin);
}
