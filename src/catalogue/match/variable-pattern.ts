// Patterns of variable names, such as `bytesSent.{port}`.
import { Fault } from '../../errors.js';
import { labelProblem } from '../names.js';
import { compileRestriction } from './restriction.js';

/** A family of variables that differ in one part of the name, which becomes a label. */
export interface VariablePattern {
  readonly text: string;
  readonly label: string;
  /** The text that the label captures; undefined if the name is not of the family. */
  capture(name: string): string | undefined;
}

const PLACEHOLDER = /^([^{}]*)\{([^{}~]*)(?:~([^{}]*))?\}([^{}]*)$/;

/**
 * Compiles a variable pattern with exactly one `{label}` or `{label~expression}`. A variable's
 * name has no segments: the label takes everything, dots included, and at least one character.
 * @returns undefined for a plain name, which has no braces
 * @throws Fault CONFIG_INVALID for stray braces, bad label names and bad expressions
 */
export function compileVariablePattern(text: string): VariablePattern | undefined {
  if (!/[{}]/.test(text)) return undefined;
  const [whole, before = '', label = '', source, after = ''] = PLACEHOLDER.exec(text) ?? [];
  if (whole === undefined)
    throw new Fault('CONFIG_INVALID', `${JSON.stringify(text)} must hold exactly one {label}`);
  const problem = labelProblem(label);
  if (problem !== undefined) throw new Fault('CONFIG_INVALID', problem);
  const allowed = source === undefined ? () => true : compileRestriction(source);
  const around = before.length + after.length;
  const capture = (name: string): string | undefined => {
    if (name.length <= around || !name.startsWith(before) || !name.endsWith(after))
      return undefined;
    const taken = name.slice(before.length, name.length - after.length);
    return allowed(taken) ? taken : undefined;
  };
  return { text, label, capture };
}
