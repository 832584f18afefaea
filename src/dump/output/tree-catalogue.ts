// What a segment holds, as a draft of a catalogue file.
import { Fault } from '../../errors.js';
import type { ManagedObject } from '../../model.js';
import { nameText } from '../../shown/shown-text.js';
import { identityOf } from '../../streams/root-identity.js';
import { catalogueDraft } from '../catalogue/catalogue-draft.js';
import { Survey } from '../catalogue/survey.js';
import type { SegmentFacts } from '../segment/seen-segment.js';
import { treeItems } from '../tree/tree-items.js';
import type { Choice, TreeReading } from '../tree/tree-items.js';

/** Most names in the remark about roots that are not drafted. */
const MAX_NAMED = 10;

/**
 * The lines of a catalogue for all roots of one application: that of the first root of the chosen objects.
 * @throws Fault USAGE if nothing was
 */
export function* treeCatalogue(
  { name: segment }: SegmentFacts,
  reading: TreeReading,
  choice: Choice,
): Generator<string> {
  const survey = new Survey(reading);
  let application: string | undefined;
  let last: ManagedObject | undefined;
  const drafted: string[] = [];
  const others: string[] = [];
  let isDrafted = false;
  for (const item of treeItems(reading, choice)) {
    if (item.kind === 'object' && item.root !== last) {
      last = item.root;
      const its = identityOf(last).application;
      application ??= its;
      isDrafted = its === application;
      (isDrafted ? drafted : others).push(last.name);
    }
    if (isDrafted) survey.take(item);
  }
  const [root] = drafted;
  if (root === undefined || application === undefined)
    throw new Fault('USAGE', '--catalogue: there is no object to draft it for');
  yield* catalogueDraft(survey, { segment, root, moreRoots: drafted.length - 1, application });
  if (others.length === 0) return;
  const named = others.slice(0, MAX_NAMED).map((name) => nameText(name));
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  yield `\n# Not drafted, since a catalogue is for one application: ${named.join(', ')}${more}. --object ID drafts one of them.`;
}
