// Variables that differ in the end of their names only: one metric, with that end as a label.
import { isFramed } from '../../published.js';
import { freeLabel } from './free-label.js';
import type { SeenVariable } from './survey.js';

/** A variable, or several that differ in a label. */
export interface VariableFamily {
  /** The first of them, under the name that all begin with. */
  readonly variable: SeenVariable;
  /** Its name, or a pattern such as `bytesSent.{number}`. */
  readonly pattern: string;
  /** That of the pattern; undefined for a single variable. */
  readonly label: string | undefined;
}

interface Group {
  readonly variable: SeenVariable;
  readonly before: string | undefined;
  /** What differs. */
  readonly ends: string[];
}

const PARTS = /^([^.]+)\.(.+)$/;

/**
 * Several numbers whose names are equal before a dot, or one whose name goes on with digits there,
 * are one family.
 * @param taken labels that the class has already
 */
export function variableFamilies(
  variables: Iterable<SeenVariable>,
  taken: readonly string[],
): readonly VariableFamily[] {
  const groups = new Map<string, Group>();
  for (const variable of variables) {
    const { name, type, kind, unit } = variable;
    const isNumber = !isFramed(type);
    const [, before, end = ''] = (isNumber ? PARTS.exec(name) : null) ?? [];
    const key = JSON.stringify(before === undefined ? [name] : [before, type, kind, unit]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { variable, before, ends: [end] });
    else group.ends.push(end);
  }
  return [...groups.values()].map((group) => familyOf(group, taken));
}

function familyOf({ variable, before, ends }: Group, taken: readonly string[]): VariableFamily {
  const areNumbers = ends.every((end) => /^\d+$/.test(end));
  if (before === undefined || (ends.length === 1 && !areNumbers))
    return { variable, pattern: variable.name, label: undefined };
  const label = freeLabel([areNumbers ? 'number' : 'part'], taken);
  return { variable: { ...variable, name: before }, pattern: `${before}.{${label}}`, label };
}
