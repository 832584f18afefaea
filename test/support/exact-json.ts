// A strict JSON parser that keeps integers exact, as bigints; other numbers are doubles.

export type ExactJson =
  null | boolean | bigint | number | string | ExactJson[] | Map<string, ExactJson>;

/** A token. JSON.parse checks later whether a string or number is valid. */
const TOKEN = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(true|false|null))/y;

export function parseExactly(text: string): ExactJson {
  const pattern = new RegExp(TOKEN);
  const fail = (): never => {
    throw new SyntaxError(
      `Not JSON at ${pattern.lastIndex}: ${text.slice(pattern.lastIndex, pattern.lastIndex + 40)}`,
    );
  };
  const next = (): RegExpExecArray => pattern.exec(text) ?? fail();
  const expectSign = (sign: string): void => {
    if (next()[1] !== sign) fail();
  };
  const peek = (sign: string): boolean => {
    const at = pattern.lastIndex;
    const isThere = next()[1] === sign;
    if (!isThere) pattern.lastIndex = at;
    return isThere;
  };
  const value = (): ExactJson => {
    const [, sign, quoted, number, word] = next();
    if (quoted !== undefined) return JSON.parse(quoted) as string;
    if (number !== undefined) return numberOf(number);
    if (word !== undefined) return JSON.parse(word) as boolean | null;
    return sign === '{' ? members() : sign === '[' ? elements() : fail();
  };
  const numberOf = (digits: string): bigint | number => {
    const double = JSON.parse(digits) as number;
    return /^-?\d+$/.test(digits) ? BigInt(digits) : double;
  };
  const elements = (): ExactJson[] => {
    const list: ExactJson[] = [];
    if (peek(']')) return list;
    do list.push(value());
    while (peek(','));
    expectSign(']');
    return list;
  };
  const members = (): Map<string, ExactJson> => {
    const map = new Map<string, ExactJson>();
    if (peek('}')) return map;
    do {
      const name = value();
      if (typeof name !== 'string' || map.has(name)) return fail();
      expectSign(':');
      map.set(name, value());
    } while (peek(','));
    expectSign('}');
    return map;
  };
  const whole = value();
  if (text.slice(pattern.lastIndex).trim() !== '') fail();
  return whole;
}
