// Drafts a catalogue file from the contents of a tree. A comment above each line names the guesses in it.
import { metricNamePart } from '../../catalogue/names.js';
import { pluralize } from '../../pluralize.js';
import { Fault } from '../../errors.js';
import type { ManagedObject } from '../../model.js';
import { application } from '../../rules/formats.js';
import { grouped, nameText, sentence } from '../../shown/shown-text.js';
import { identityOf } from '../../streams/choose-root.js';
import type { SegmentStatus } from '../segment/followed-segment.js';
import { treeItems } from '../tree/tree-items.js';
import type { Choice, TreeReading } from '../tree/tree-items.js';
import { RowDrafts, tomlList, tomlTable, tomlText } from './row-drafts.js';
import { Survey, pathDraft } from './survey.js';
import type { SeenClass } from './survey.js';

/** The maximum number of bytes of all drafted classes together: a catalogue file may have at most 1 MiB. */
const MAX_BYTES = 1_000_000;

/** The segment and the roots that a draft describes. */
interface DraftOrigin {
  readonly segment: string;
  /** Id of the first root. */
  readonly root: string;
  /** The number of further roots of the application. */
  readonly moreRoots: number;
  readonly application: string;
}

/** The class aliases and metric names that the draft already uses. */
interface Taken {
  readonly aliases: Set<string>;
  readonly metrics: Set<string>;
}

/** Yields the lines of the file. Omits classes beyond the size limit; the last line says how many items are missing. */
export function* catalogueDraft(
  survey: Pick<Survey, 'classes' | 'omitted'>,
  origin: DraftOrigin,
): Generator<string> {
  const app = appOf(origin.application);
  const isGuessed = app !== origin.application;
  const more = origin.moreRoots > 0 ? ` and ${pluralize(origin.moreRoots, 'more root')}` : '';
  yield `# A catalogue that shm_dump drafted for ${nameText(origin.root)}${more} in segment ${origin.segment}.`;
  yield '# A comment above a line lists the guesses in that line. Check the guesses before you use the file.';
  yield `app = ${tomlText(app)}${isGuessed ? '  # guessed: the published name is not a valid application' : ''}`;
  const taken: Taken = { aliases: new Set(), metrics: new Set() };
  let bytes = 0;
  let leftOut = survey.omitted;
  for (const seen of survey.classes) {
    const text = classDraft(seen, app, taken);
    bytes += Buffer.byteLength(text);
    if (bytes > MAX_BYTES) leftOut += seen.variables.size;
    else if (text !== '') yield text;
  }
  if (taken.aliases.size === 0) yield '\nclasses = []';
  if (leftOut > 0)
    yield `\n# Left out: ${grouped(leftOut)} objects and variables that are beyond a limit, or whose names a catalogue cannot contain.`;
}

/** The TOML text of a class; empty for a class without a metric. */
function classDraft(seen: SeenClass, app: string, taken: Taken): string {
  const alias = freeAlias(metricNamePart(seen.className) || 'class', taken.aliases);
  const path = pathDraft(seen.segments, alias);
  const drafts = new RowDrafts(seen, { app, alias }, path.labels, taken.metrics);
  const rows = [...drafts.rows()].flatMap(({ keys, guesses }) => [
    ...guessLines(guesses, '  '),
    `  ${tomlTable(keys)},`,
  ]);
  if (rows.length === 0) return '';
  taken.aliases.add(alias);
  return [
    '',
    '[[classes]]',
    `alias = ${tomlText(alias)}`,
    `class_ids = ${tomlList([seen.className])}`,
    ...guessLines(path.guesses, ''),
    `paths = ${tomlList([path.pattern])}`,
    'metrics = [',
    ...rows,
    ']',
  ].join('\n');
}

const guessLines = (guesses: readonly string[], indent: string): readonly string[] =>
  guesses.length === 0 ? [] : [`${indent}# guessed: ${sentence(guesses.join('; '))}`];

function freeAlias(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}_${number}`)) number++;
  return `${wanted}_${number}`;
}

/** The published name of the application, or a valid name made from it. */
function appOf(published: string): string {
  const accepts = (name: string) => application.read(name, [], () => undefined) !== undefined;
  if (accepts(published)) return published;
  const made = metricNamePart(published).slice(0, 60);
  return accepts(made) ? made : `app_${made}`.replace(/_$/, '');
}

/** The maximum number of roots of other applications that the final comment lists. */
const MAX_NAMED = 10;

/**
 * Yields the lines of a draft catalogue. Reads the selected roots that have the same application as the first one.
 * @throws Fault USAGE if the selection has no object
 */
export function* treeCatalogue(
  { name: segment }: SegmentStatus,
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
    throw new Fault('USAGE', '--catalogue: there is no object for which to draft a catalogue');
  yield* catalogueDraft(survey, { segment, root, moreRoots: drafted.length - 1, application });
  if (others.length === 0) return;
  const named = others.slice(0, MAX_NAMED).map((name) => nameText(name));
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  yield `\n# Not drafted, since a catalogue is for one application: ${named.join(', ')}${more}. --object ID drafts one of them.`;
}
