// Classes of a catalogue that no object fits, and the objects that no row is for.
import { counted, nounFor } from '../../counted.js';
import type { Catalogue } from '../../catalogue/catalogue.js';
import type { Filters } from '../../catalogue/match/filters.js';
import { ROOT } from '../../catalogue/match/patterns.js';
import { quoted } from '../../document/document.js';
import type { CountedObject } from './census.js';
import { idleClass } from './idle-class.js';
import { firstOf } from './listed.js';

const MAX_EXAMPLES = 3;

export interface ClassFindings {
  /** Lines about classes; none while each tracked object has its rows, since others may come. */
  readonly idle: readonly string[];
  /** At most one line, about objects without rows. */
  readonly strays: readonly string[];
}

/** The tracked objects of one class that no row is for. */
interface Kind {
  readonly className: string;
  /** The seed path of one of them. */
  readonly example: string;
  objects: number;
  variables: number;
}

/** With a choice of classes nothing is found: only objects that have rows are tracked then. */
export function classFindings(
  { classes, source: { file } }: Catalogue,
  { rules, tracks }: Filters,
  objects: readonly CountedObject[],
): ClassFindings {
  const fitting = new Set<string>();
  const kinds = new Map<string, Kind>();
  for (const object of objects) {
    const found = rules?.rulesFor(object) ?? [];
    for (const { set } of found) fitting.add(set.alias);
    if (found.length === 0 && mayNeedRows(object) && tracks(object)) count(kinds, object);
  }
  if (kinds.size === 0) return { idle: [], strays: [] };
  const idle = classes
    .filter(({ alias }) => !fitting.has(alias))
    .map((each) => `${file}: ${idleClass(each)}`);
  const strays = [...kinds.values()];
  const isHarmless = idle.length === 0 && strays.every(({ variables }) => variables === 0);
  return {
    idle: firstOf(idle, 'classes that no object fits'),
    strays: isHarmless ? [] : [straysLine(strays)],
  };
}

/** A bare root, and an object that only groups others, show nothing that a row could read. */
const mayNeedRows = ({ seedPath, variables, isLeaf }: CountedObject): boolean =>
  variables.size > 0 || (isLeaf && seedPath !== '');

function count(kinds: Map<string, Kind>, { className, seedPath, variables }: CountedObject): void {
  const kind = kinds.get(className) ?? { className, example: seedPath, objects: 0, variables: 0 };
  kinds.set(className, kind);
  kind.objects++;
  kind.variables += variables.size;
}

/** Names the classes with the most variables, each with the path of one object. */
function straysLine(kinds: readonly Kind[]): string {
  const objects = kinds.reduce((sum, kind) => sum + kind.objects, 0);
  const variables = kinds.reduce((sum, kind) => sum + kind.variables, 0);
  const examples = kinds
    .toSorted((one, other) => other.variables - one.variables)
    .slice(0, MAX_EXAMPLES)
    .map(({ className, example }) => `${quoted(className)} at ${quoted(example || ROOT)}`);
  const more = kinds.length - examples.length;
  const rest = more > 0 ? ` and ${more} more ${nounFor(more, 'class', 'classes')}` : '';
  return `no row is for ${counted(objects, 'object')} with ${counted(variables, 'variable')}: ${examples.join(', ')}${rest}`;
}
