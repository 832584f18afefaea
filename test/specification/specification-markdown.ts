// The page docs/specification.md: each row of the specification, and the tests that show it.
import type { ShowingTest } from './shown-rows.js';
import type { Section } from './specification-file.js';

const HEAD = `<!-- Generated from test/specification/rows.ts and the tests inside shows(): change those, not this. -->

# The specification and its tests

Each rule, table row, error and limit by its number, and the tests that show it.
`;

/** Text in a table cell: outside of code, what looks like a tag is none. */
const cell = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('')
    .replaceAll('|', '\\|');

const link = ({ title, file }: ShowingTest): string =>
  `[${cell(title).replace(/[[\]]/g, '\\$&')}](../${file})`;

/**
 * The page. `files` of the tests are relative to the project.
 * @throws Error for rows without a test that are not open, and for open rows that have one
 */
export function specificationMarkdown(
  sections: readonly Section[],
  shown: ReadonlyMap<string, readonly ShowingTest[]>,
  stillOpen: readonly string[],
): string {
  const numbers = sections.flatMap(({ rows }) => rows.map(([number]) => number));
  const bare = numbers.filter((number) => !shown.has(number) && !stillOpen.includes(number));
  const done = stillOpen.filter((number) => shown.has(number) || !numbers.includes(number));
  if (bare.length > 0) throw new Error(`Rows without a test: ${bare.join(', ')}`);
  if (done.length > 0) throw new Error(`Rows that are not open any more: ${done.join(', ')}`);
  const line = ([number, sentence]: readonly [string, string]): string => {
    const tests = shown.get(number)?.map(link).join('<br>') ?? 'open';
    return `| ${number.replaceAll(' ', '&nbsp;')} | ${cell(sentence)} | ${tests} |\n`;
  };
  return [
    HEAD,
    ...sections.map(
      ({ title, rows }) =>
        `\n## ${title}\n\n| Number | Sentence | Tests |\n|---|---|---|\n${rows.map(line).join('')}`,
    ),
  ].join('');
}
