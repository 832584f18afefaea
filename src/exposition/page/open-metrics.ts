// OpenMetrics 1.0 text: the sample lines of text 0.0.4 with other headers and an end mark.
import { namesTaken, unsharedNames } from '../../catalogue/names.js';
import type { FamilyFacts } from '../../model.js';
import { memoize } from '../memoize.js';
import { headers } from '../text/text-syntax.js';
import { textFormat } from './text-page.js';

/** The endings of sample names that the family name lacks, by type. */
const ENDINGS: Readonly<Partial<Record<FamilyFacts['type'], string>>> = {
  counter: '_total',
  info: '_info',
};

const escape = (text: string): string =>
  text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

/** Types that have no unit. */
const UNITLESS = new Set(['info', 'stateset']);

interface PageFacts extends FamilyFacts {
  /** Whether the family has no unit, and the family before it has one. */
  readonly endsUnit?: boolean;
}

const familyName = ({ name, type }: FamilyFacts): string =>
  name.slice(0, name.length - (ENDINGS[type]?.length ?? 0));

/** Whether the page states the unit of a family. The format requires that the name ends in the unit. */
const hasUnit = (facts: FamilyFacts): boolean =>
  facts.unit !== '' && !UNITLESS.has(facts.type) && familyName(facts).endsWith(`_${facts.unit}`);

/** The header lines of a family in OpenMetrics. */
export function openMetricsHeader(facts: PageFacts): string {
  const { type, help, endsUnit = false } = facts;
  const family = familyName(facts);
  const unit = hasUnit(facts) ? facts.unit : '';
  const unitLine = unit !== '' || endsUnit ? `# UNIT ${family} ${unit}\n` : '';
  return `# TYPE ${family} ${type}\n${unitLine}# HELP ${family} ${escape(help)}\n`;
}

/** The same family with type unknown, whose samples keep the whole name. */
const asUnknown = memoize((facts: FamilyFacts): FamilyFacts => ({ ...facts, type: 'unknown' }));

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

/** The same family behind a family with a unit. Prometheus would apply that unit until it reads another one. */
const endingUnit = memoize((facts: FamilyFacts): PageFacts => ({ ...facts, endsUnit: true }));

/**
 * The families of a part of a page as OpenMetrics can express them.
 * @param isFirst false if other families come before, of which the last may have a unit
 */
export function openMetricsFamilies(
  families: readonly FamilyFacts[],
  isFirst: boolean,
): readonly PageFacts[] {
  let hadUnit = !isFirst;
  return withoutClashes(families).map((facts) => {
    const [before, has] = [hadUnit, hasUnit(facts)];
    hadUnit = has;
    return before && !has ? endingUnit(facts) : facts;
  });
}

/** Pages of OpenMetrics 1.0; names have letters, digits and underscores only, as `escaping` states. */
export const OPEN_METRICS = textFormat({
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
  headerOf: headers(openMetricsHeader),
  agree: openMetricsFamilies,
  takes: ({ snapshot }) => snapshot.hasForbidden !== true,
  end: '# EOF\n',
});
