// Values as a TOML file has them in one line, safe for a terminal.

export type TomlValue = string | number | boolean | Readonly<Record<string, string>>;

export const tomlText = (text: string): string =>
  JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, escaped);

export const tomlList = (texts: readonly string[]): string => `[${texts.map(tomlText).join(', ')}]`;

/** Keys are letters, digits and underscores. */
export const tomlTable = (keys: Readonly<Record<string, TomlValue>>): string =>
  `{ ${Object.entries(keys)
    .map(([key, value]) => `${key} = ${tomlValue(value)}`)
    .join(', ')} }`;

function tomlValue(value: TomlValue): string {
  if (typeof value === 'string') return tomlText(value);
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' ? tomlNumber(value) : tomlTable(value);
}

/** Decimal, as people write it: `0.000001`. */
const tomlNumber = (value: number): string =>
  value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 });

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}
