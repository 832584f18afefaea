// Writes the page test/specification/README.md: each row of the specification with its tests.
import type { ShowingTest } from './shown-rows.js';
import type { Section } from './specification-file.js';

const HEAD = `<!-- Generated from test/specification/rows.ts and the tests inside shows(): change those, not this. -->

# The specification and its tests

Each rule, table row, error and limit by its number, and the tests that show it.
`;

/** Escapes text for a table cell. Outside of code, `<` must not begin an HTML tag. */
const cell = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('')
    .replaceAll('|', '\\|');

const link = ({ title, file }: ShowingTest): string =>
  `[${cell(title).replace(/[[\]]/g, '\\$&')}](../../${file})`;

/**
 * Returns the page. The `file` of a test is relative to the project.
 * @throws Error for rows without a test
 */
export function specificationMarkdown(
  sections: readonly Section[],
  shown: ReadonlyMap<string, readonly ShowingTest[]>,
): string {
  const numbers = sections.flatMap(({ rows }) => rows.map(([number]) => number));
  const bare = numbers.filter((number) => !shown.has(number));
  if (bare.length > 0) throw new Error(`Rows without a test: ${bare.join(', ')}`);
  const line = ([number, sentence]: readonly [string, string]): string => {
    // Runs of a test in several settings have equal links. List the test once.
    const tests = [...new Set(shown.get(number)?.map(link))].join('<br>');
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
