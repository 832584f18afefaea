// The values of the built-in catalogues as a build keeps them: to parse their text takes a third of a start.
import { deserialize, serialize } from 'node:v8';
import type { Document } from '../document/document.js';
import { parseToml } from '../document/toml-file.js';
import type { CatalogueText } from './catalogue.js';

type Values = Document['values'];

interface Kept {
  /** What they were parsed from. */
  readonly text: string;
  readonly values: Values;
}

/** The values of a text, as bytes for `valuesOf`. */
export const keepValues = ({ file, text }: CatalogueText): Uint8Array =>
  serialize({ text, values: parseToml(file, text).values } satisfies Kept);

/** Undefined if the bytes are of another text, or of a V8 that writes them in another way. */
export function valuesOf(bytes: Uint8Array, text: string): Values | undefined {
  try {
    const kept = deserialize(bytes) as Kept;
    return kept.text === text ? kept.values : undefined;
  } catch {
    return undefined;
  }
}
