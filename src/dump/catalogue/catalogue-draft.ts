// The text of a catalogue file for a tree, with each guess said in a comment.
import { counted } from '../../counted.js';
import { metricNamePart } from '../../catalogue/names.js';
import { application } from '../../rules/formats.js';
import { grouped } from '../../shown/ages.js';
import { nameText, sentence } from '../../shown/shown-text.js';
import { pathDraft } from './survey.js';
import { RowDrafts, tomlList, tomlTable, tomlText } from './row-drafts.js';
import type { SeenClass, Survey } from './survey.js';

/** Bytes of the classes: a catalogue file has at most 1 MiB. */
const MAX_BYTES = 1_000_000;

/** Where a draft comes from. */
export interface DraftOrigin {
  readonly segment: string;
  /** Id of the first root. */
  readonly root: string;
  /** How many roots of the application there are beside it. */
  readonly moreRoots: number;
  readonly application: string;
}

/** What the classes so far are called, and their metrics. */
interface Taken {
  readonly aliases: Set<string>;
  readonly metrics: Set<string>;
}

/** The lines of a file that is not too large to be one. */
export function* catalogueDraft(
  survey: Pick<Survey, 'classes' | 'omitted'>,
  origin: DraftOrigin,
): Generator<string> {
  const app = appOf(origin.application);
  const isGuessed = app !== origin.application;
  const more = origin.moreRoots > 0 ? ` and ${counted(origin.moreRoots, 'more root')}` : '';
  yield `# A draft of shm_dump for ${nameText(origin.root)}${more} in segment ${origin.segment}.`;
  yield '# Above a line is said what was guessed of it: check that before you use the file.';
  yield `app = ${tomlText(app)}${isGuessed ? '  # guessed: the published name cannot be one' : ''}`;
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
    yield `\n# Left out: ${grouped(leftOut)} objects and variables, too many or with names that no catalogue can have.`;
}

/** Empty for a class without a metric. */
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

/** The published name, or one that an application may have. */
function appOf(published: string): string {
  const accepts = (name: string) => application.read(name, [], () => undefined) !== undefined;
  if (accepts(published)) return published;
  const made = metricNamePart(published).slice(0, 60);
  return accepts(made) ? made : `app_${made}`.replace(/_$/, '');
}
