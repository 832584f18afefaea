// Reads as much PromQL as the tests need: which metrics an expression names.

/** Matches a selector such as `{__name__=~"(a|b)_total",job="c"}`. It must name each metric completely. */
const NAME_MATCHER = /\{__name__=~"\(([\w|]+)\)(\w*)"[^}]*\}/g;
const LABEL_LISTS = /\b(?:by|without|on|ignoring|group_left|group_right) \([^)]*\)/g;
const KEYWORDS = /^(?:and|or|unless|by|without|on|ignoring|offset)$/;

/** Returns the metrics that an expression reads, without duplicates. */
export function metricsOf(expr: string): readonly string[] {
  const bare = expr
    .replaceAll(NAME_MATCHER, (_all, parts: string, rest: string) =>
      parts
        .split('|')
        .map((part) => part + rest)
        .join(' or '),
    )
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replaceAll(LABEL_LISTS, '');
  const names = [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?! *\()/g)].map(([name]) => name);
  return [...new Set(names.filter((name) => isWhole(name, bare) && !KEYWORDS.test(name)))];
}

/** Excludes a match that is only the beginning of a function name. */
const isWhole = (name: string, text: string): boolean =>
  new RegExp(`(?<![\\w:.])${name}(?![\\w:]| *\\()`).test(text);

/** Replaces the variables of a dashboard by values that select everything. */
export const withoutVariables = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '20s').replaceAll(/\$\w+/g, '.*');
