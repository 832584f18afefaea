// OpenMetrics 1.0 text: the sample lines of text 0.0.4 with other headers and an end mark.
import { namesTaken, unsharedNames } from '../../catalogue/names.js';
import type { FamilyMetadata, Piece, Snapshot } from '../../model.js';
import { memoize } from '../memoize.js';
import { familiesOf, textFormat, textLines } from './text-page.js';
import type { Syntax } from './text-page.js';

/** For each type, the suffix that is part of sample names but not of family names. */
const SUFFIXES: Readonly<Partial<Record<FamilyMetadata['type'], string>>> = {
  counter: '_total',
  info: '_info',
};

const escape = (text: string): string =>
  text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

/** Types that have no unit. */
const UNITLESS = new Set(['info', 'stateset']);

interface PageMetadata extends FamilyMetadata {
  /** Whether the family has no unit but the family before it has one. */
  readonly hasEmptyUnit?: boolean;
}

const familyName = ({ name, type }: FamilyMetadata): string =>
  name.slice(0, name.length - (SUFFIXES[type]?.length ?? 0));

/** Whether the page states the unit of a family. The format requires that the name ends in the unit. */
const hasUnit = (metadata: FamilyMetadata): boolean =>
  metadata.unit !== '' &&
  !UNITLESS.has(metadata.type) &&
  familyName(metadata).endsWith(`_${metadata.unit}`);

/** The header lines of a family in OpenMetrics. */
export function openMetricsHeader(metadata: PageMetadata): string {
  const { type, help, hasEmptyUnit = false } = metadata;
  const family = familyName(metadata);
  const unit = hasUnit(metadata) ? metadata.unit : '';
  const unitLine = unit !== '' || hasEmptyUnit ? `# UNIT ${family} ${unit}\n` : '';
  return `# TYPE ${family} ${type}\n${unitLine}# HELP ${family} ${escape(help)}\n`;
}

/** Returns the metadata with the type unknown, so that the family has the same name as its samples. */
const asUnknown = memoize((metadata: FamilyMetadata): FamilyMetadata => ({
  ...metadata,
  type: 'unknown',
}));

/**
 * Changes types to unknown where names clash in OpenMetrics. There, the family name of a counter or info metric lacks
 * the suffix of its samples. Such a metric gets the type unknown if its name has no suffix, or if its name without
 * the suffix is already in use: by another family of the page, or by the samples of one.
 */
export function withoutClashes(families: readonly FamilyMetadata[]): readonly FamilyMetadata[] {
  const taken = new Set(families.flatMap(unsharedNames));
  return families.map((metadata) => {
    const { name, type } = metadata;
    const suffix = SUFFIXES[type];
    if (suffix === undefined) return metadata;
    const names = namesTaken(metadata).filter((each) => each !== name);
    if (!name.endsWith(suffix) || names.some((each) => taken.has(each))) return asUnknown(metadata);
    for (const each of names) taken.add(each);
    return metadata;
  });
}

/**
 * Marks a family that has no unit and follows a family with a unit. Its header then states an empty unit: otherwise
 * Prometheus would apply the unit of the family before.
 */
const withEmptyUnit = memoize((metadata: FamilyMetadata): PageMetadata => ({
  ...metadata,
  hasEmptyUnit: true,
}));

/**
 * Adapts the families of a part of a page to what OpenMetrics can express.
 * @param isFirst false if other families precede `families` on the page; the last of them may have a unit
 */
export function openMetricsFamilies(
  families: readonly FamilyMetadata[],
  isFirst: boolean,
): readonly PageMetadata[] {
  let hadUnit = !isFirst;
  return withoutClashes(families).map((metadata) => {
    const [before, has] = [hadUnit, hasUnit(metadata)];
    hadUnit = has;
    return before && !has ? withEmptyUnit(metadata) : metadata;
  });
}

/** OpenMetrics 1.0; the parameter `escaping` states that names have letters, digits and underscores only. */
const SYNTAX: Syntax = {
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
  headerText: openMetricsHeader,
  adapt: openMetricsFamilies,
  accepts: ({ snapshot }) => !snapshot.violatesOpenMetrics,
  end: '# EOF\n',
};

export const OPEN_METRICS = textFormat(SYNTAX);

/** Pages with a `_created` line for each counter, histogram and summary whose start time is known. */
export const OPEN_METRICS_CREATED = textFormat({
  ...SYNTAX,
  lines: { form: 'created', of: withCreatedLines },
});

/** A family of the type unknown has no `_created` lines. Neither has a snapshot that was rendered without them. */
function withCreatedLines(snapshot: Snapshot, adapted: readonly FamilyMetadata[]): Snapshot {
  const created = snapshot.lines('created');
  if (created === undefined) return snapshot;
  const [withLines, without] = [byName(created), byName(textLines(snapshot))];
  const pieces = snapshot.metadata.flatMap(({ name, type }, index) => {
    const isSame = adapted[index]?.type === type;
    return (isSame ? withLines : without).get(name) ?? [];
  });
  const { metadata, violatesOpenMetrics } = snapshot;
  return {
    ...{ metadata, violatesOpenMetrics },
    lines: (form) => (form === 'text' ? pieces : undefined),
    hold: () => snapshot.hold(),
  };
}

const byName = (all: readonly Piece[]): ReadonlyMap<string, readonly Piece[]> =>
  new Map(familiesOf(all).map(({ family, pieces }) => [family.name, pieces]));
