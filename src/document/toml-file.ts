// Reads a TOML file into raw values with their positions.
import { parse } from 'toml';
import { Fault } from '../errors.js';
import type { Document } from './document.js';
import { TomlDate } from './key-path.js';
import { Places } from './places.js';
import { readText } from './text-file.js';
import { tomlMarks } from './toml-marks.js';
import { syntaxProblem } from './toml-syntax.js';

/** Far deeper than any configuration, far below the stack limit. */
const DEEPEST_NESTING = 64;

const dates = { from: (text: string) => new TomlDate(text) };

/**
 * Integers as bigint, so that 9464.0 is none; dates, even bare local ones, as a type that no rule
 * allows.
 */
const OPTIONS = {
  bigint: true,
  maxDepth: DEEPEST_NESTING,
  useTemporal: true,
  temporal: {
    ZonedDateTime: dates,
    PlainDateTime: dates,
    PlainDate: dates,
    PlainTime: dates,
  },
};

/**
 * The raw values of a TOML file.
 * @param hasSecrets whether messages must not quote the file
 * @throws Fault CONFIG_INVALID when it cannot be read, or is not TOML: then with the line and a caret,
 *   unless it has secrets
 */
export function readToml(file: string, hasSecrets = false): Document {
  return parseToml(file, readText(file), hasSecrets);
}

/** The raw values of TOML text; `file` is its name in messages. */
export function parseToml(file: string, text: string, hasSecrets = false): Document {
  try {
    return documentOf(file, text, parse(text, OPTIONS) as Document['values']);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const { places } = documentOf(file, text, {});
    const problem = syntaxProblem(text, cause);
    const excerpt = hasSecrets ? '' : `\n${places.excerpt(problem.offset)}`;
    const message = `${places.at(problem.offset)}: ${problem.text}${excerpt}`;
    throw new Fault('CONFIG_INVALID', message, { cause });
  }
}

/** A document with the values of TOML text. */
const documentOf = (file: string, text: string, values: Document['values']): Document => ({
  values,
  places: new Places(file, text, () => tomlMarks(text, DEEPEST_NESTING)),
});
