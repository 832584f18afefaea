// OpenMetrics 1.0 text: the sample lines of text 0.0.4 with other headers and an end mark.
import { namesTaken, unsharedNames } from '../../catalogue/names.js';
import type { FamilyFacts } from '../../model.js';
import { madeOnce } from '../made-once.js';
import { textFormat } from './text-page.js';

/** Types whose family names lack the ending of their samples. */
const ENDINGS: Readonly<Partial<Record<FamilyFacts['type'], string>>> = {
  counter: '_total',
  info: '_info',
};

const escape = (text: string): string =>
  text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

/** Types that have no unit. */
const UNITLESS = new Set(['info', 'stateset']);

/**
 * The header lines of a family; a unit is given only if the name ends in it, as the format
 * requires.
 */
export function openMetricsHeader({ name, type, unit, help }: FamilyFacts): string {
  const family = name.slice(0, name.length - (ENDINGS[type]?.length ?? 0));
  const hasUnit = unit !== '' && !UNITLESS.has(type) && family.endsWith(`_${unit}`);
  const unitLine = hasUnit ? `# UNIT ${family} ${unit}\n` : '';
  return `# TYPE ${family} ${type}\n${unitLine}# HELP ${family} ${escape(help)}\n`;
}

/** The same family with type unknown, whose samples keep the whole name. */
const untyped = new WeakMap<FamilyFacts, FamilyFacts>();
const asUnknown = (facts: FamilyFacts): FamilyFacts =>
  madeOnce(untyped, facts, () => ({ ...facts, type: 'unknown' }));

/**
 * The families of a page as OpenMetrics can express them. The family name of a counter or info
 * metric is shorter than the name of its samples. If it has no such ending, or if the shorter name
 * belongs to another family of the page or its samples, the type becomes unknown.
 */
export function withoutClashes(families: readonly FamilyFacts[]): readonly FamilyFacts[] {
  const taken = new Set(families.flatMap(unsharedNames));
  return families.map((facts) => {
    const { name, type } = facts;
    const ending = ENDINGS[type];
    if (ending === undefined) return facts;
    const more = namesTaken(facts).filter((each) => each !== name);
    if (!name.endsWith(ending) || more.some((each) => taken.has(each))) return asUnknown(facts);
    for (const each of more) taken.add(each);
    return facts;
  });
}

/** Pages of OpenMetrics 1.0; names have letters, digits and underscores only, as `escaping` states. */
export const OPEN_METRICS = textFormat({
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
  header: openMetricsHeader,
  agree: withoutClashes,
  takes: ({ snapshot }) => snapshot.hasForbidden !== true,
  end: '# EOF\n',
});
