// Drafts the metric of one variable, by what its publisher declares and by what its name says.
import { describedName, metricNamePart, prefixOf } from '../../catalogue/names.js';
import type { Declaration, FamilyFacts, MetricType } from '../../model.js';
import { measureInName, measureOf } from './measures.js';
import { nameWords, withFreeEnding } from './name-words.js';
import { numberType } from './number-type.js';

/** What metrics are drafted for. */
export interface DraftedClass {
  readonly app: string;
  readonly alias: string;
}

export interface MetricDraft extends Omit<FamilyFacts, 'help'> {
  /** What values are multiplied with. */
  readonly scale: number;
  /** What was guessed, each in a few words. */
  readonly guesses: readonly string[];
}

export type Declared = Pick<Declaration, 'name' | 'type' | 'kind' | 'unit'>;

/**
 * The metric of a number or a distribution.
 * @param number distinguishes it from metrics that would have the same name; the first has 1
 */
export function metricDraft(declared: Declared, drafted: DraftedClass, number = 1): MetricDraft {
  const said = wordsOf(declared.name);
  const { type, typeGuess } = typeOf(declared, said);
  const { unit, scale, unitGuess, unitWord } = unitOf(declared, said);
  const rest = nameWords(said.filter((word) => word !== unitWord).join('_'));
  // The ending of a counter says it.
  const words = type === 'counter' ? rest.filter((word) => word !== 'total') : withFreeEnding(rest);
  const name = nameWithUnit(drafted, { words, number, unit, type });
  return { name, type, unit, scale, guesses: [typeGuess, unitGuess].filter(Boolean) };
}

/** The name of a metric of a class; it begins as the application demands. */
export function draftedName(
  { app, alias }: DraftedClass,
  variable: string,
  type: MetricType,
): string {
  const className = withFreeEnding(nameWords(alias)).join('_') || 'class';
  const name = describedName({ app, className, variable, unit: '', type });
  return `${prefixOf(app)}${name.slice(metricNamePart(app).length + 1)}`;
}

/** The name of a metric with a point in time. */
export const nameOfTime = (variable: string, drafted: DraftedClass, number = 1): string =>
  nameWithUnit(drafted, { words: nameWords(variable), number, unit: 'seconds', type: 'gauge' });

interface NameParts {
  readonly words: readonly string[];
  readonly number: number;
  readonly unit: string;
  readonly type: MetricType;
}

function nameWithUnit(drafted: DraftedClass, { words, number, unit, type }: NameParts): string {
  const own = [...words, ...(number > 1 ? [number] : []), ...wordsOf(unit)];
  const name = draftedName(drafted, own.join('_'), type);
  // Words that class and unit share occur once: the unit may be gone.
  if (unit === '' || name.replace(/_total$/, '').endsWith(`_${unit}`)) return name;
  return draftedName(drafted, ['value', ...own].join('_'), type);
}

const wordsOf = (text: string): readonly string[] =>
  metricNamePart(text).split('_').filter(Boolean);

function typeOf(
  { type, kind }: Declared,
  said: readonly string[],
): { readonly type: MetricType; readonly typeGuess: string } {
  if (type === 'histogram' || type === 'summary') return { type, typeGuess: '' };
  if (kind !== 'unknown') return { type: kind, typeGuess: '' };
  if (type === 'bool') return { type: 'gauge', typeGuess: '' };
  // A total is a whole number mostly.
  const guessed = type === 'f64' && !said.includes('total') ? 'gauge' : numberType(said);
  return { type: guessed, typeGuess: `a ${guessed}, by its name` };
}

interface UnitDraft {
  /** Empty for none. */
  readonly unit: string;
  readonly scale: number;
  readonly unitGuess: string;
  /** The word of the name that says it. */
  readonly unitWord: string | undefined;
}

function unitOf({ type, unit }: Declared, said: readonly string[]): UnitDraft {
  if (unit.trim() !== '') return declaredUnit(unit, said);
  if (type === 'bool') return NO_UNIT;
  const unitWord = said.find((word) => measureInName(word) !== undefined);
  const measure = unitWord === undefined ? undefined : measureInName(unitWord);
  if (unitWord === undefined || measure === undefined) return NO_UNIT;
  return { ...measure, unitWord, unitGuess: guessOf(unitWord, measure.unit, 'by its name') };
}

const NO_UNIT: UnitDraft = { unit: '', scale: 1, unitGuess: '', unitWord: undefined };

function declaredUnit(unit: string, said: readonly string[]): UnitDraft {
  const measure = measureOf(unit);
  if (measure === undefined) {
    const own = withFreeEnding(nameWords(unit)).join('_');
    // The name says it already.
    const isLast = own !== '' && said.at(-1) === own;
    return { unit: own, scale: 1, unitGuess: '', unitWord: isLast ? own : undefined };
  }
  const unitWord = said.find((word) => measureOf(word)?.unit === measure.unit);
  const isConverted = measure.scale !== 1;
  return {
    ...measure,
    unitWord,
    unitGuess: isConverted ? guessOf(unit, measure.unit, 'as declared') : '',
  };
}

const guessOf = (from: string, to: string, why: string): string =>
  from === to ? `${to}, ${why}` : `${to}, converted from ${from}, ${why}`;
