// Key paths and values as a message shows them: short, in one line, safe for a terminal.

/** The path to a value inside a file, such as `['targets', 1, 'classes', 0]`. */
export type Path = readonly (string | number)[];

/** A date or time of a TOML file, which no key allows. */
export class TomlDate {
  constructor(readonly text: string) {}
}

const LONGEST = 60;

/** A path as a person writes it: `targets[1].classes[0]`. */
export function keyPath(path: Path): string {
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return `.${/^[\w-]{1,60}$/.test(part) ? part : quoted(part)}`;
  });
  return parts.join('').replace(/^\./, '');
}

/** A raw TOML value as a file could spell it; arrays and tables by their kind only. */
export function shown(raw: unknown): string {
  if (raw === undefined || raw === null) return 'nothing';
  if (typeof raw === 'string') return quoted(raw);
  if (typeof raw === 'bigint' || typeof raw === 'boolean') return shortened(String(raw));
  if (typeof raw === 'number') return float(raw);
  if (Array.isArray(raw)) return raw.length === 0 ? 'an empty array' : `an array of ${raw.length}`;
  return raw instanceof TomlDate ? `the date or time ${shortened(raw.text)}` : 'a table';
}

/** The text in quotes, cut to a readable length, without characters that a terminal acts on. */
export function quoted(text: string): string {
  const escape = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return JSON.stringify(shortened(text)).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escape);
}

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

function float(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toFixed(1) : String(value);
}
