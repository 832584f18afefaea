// Reads a Markdown specification and returns its rows with numbers.

/** A row: the number by which tests cite it, and its sentence. */
export type Row = readonly [number: string, sentence: string];

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/**
 * Removes the sentences that state nothing: "… not shown", and a last sentence that only introduces a list.
 */
function telling(text: string): string {
  const sentences = text.split(/(?<=[.:]) (?=[A-Z])/);
  if (sentences.at(-1)?.endsWith(':') === true) sentences.pop();
  return sentences.filter((each) => !/\bnot shown\.?$/.test(each)).join(' ');
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/**
 * Writes the cells of a table row as one sentence. Each cell except the last one follows its column heading.
 */
function sentenceOf(heads: readonly string[], cells: readonly string[]): string {
  const [head = '', ...others] = heads;
  const [cell = '', ...rest] = cells;
  const last = rest.pop() ?? '';
  const middle = rest.map((each, index) => `, ${others[index]?.toLowerCase() ?? ''} ${each}`);
  return `${head} ${cell}${middle.join('')}: ${last}`;
}

/** The name by which a table row is cited: its first cell, without the argument of an option. */
const nameOf = (cell: string): string =>
  cell
    .replaceAll('`', '')
    .replace(/ <.*>$/, '')
    .toLowerCase();

/** Reads the table below a rule or a section. States have no names, so they are numbered. */
function readTable(above: string, [first = '', , ...lines]: readonly string[]): Row[] {
  const heads = cellsOf(first);
  return lines.map(cellsOf).map((cells, index) => {
    const isState = heads[0] === 'State';
    const number = isState ? `${above}.${index + 1}` : `${above} ${nameOf(cells[0] ?? '')}`;
    return [number, sentenceOf(heads, cells)];
  });
}

/**
 * Reads a rule and the lines below it. Numbered lines are rules of their own; bullets extend the rule's
 * sentence.
 */
function readRule(section: string, lines: readonly string[]): Row[] {
  const texts = new Map<string, string>();
  let rule = section;
  let latest = section;
  for (const line of lines) {
    const [, indent = '', mark = '', text = ''] = /^( *)(\d+|-)\.? (.*)$/.exec(line) ?? [];
    if (mark !== '-') latest = `${indent === '' ? section : rule}.${mark}`;
    if (indent === '') rule = latest;
    texts.set(latest, mark === '-' ? `${texts.get(latest) ?? ''} ${text}` : text);
  }
  return [...texts].map(([number, text]) => [number, telling(text)]);
}

/** Reads a section: its heading, and the blocks below it that blank lines separate. */
function readSection(title: string, blocks: readonly string[]): Section {
  const section = /^[\d.]*\d/.exec(title)?.[0] ?? 'CLI';
  const rows: Row[] = [];
  let rule = section;
  for (const block of blocks) {
    const lines = block.split('\n');
    const [, mark] = /^(\d+)\. /.exec(block) ?? [];
    if (mark !== undefined) {
      rule = `${section}.${mark}`;
      rows.push(...readRule(section, lines));
    } else if (block.startsWith('|')) rows.push(...readTable(rule, lines));
    else {
      const hasRow = rows.some(([number]) => number === section);
      const sentence = telling(lines.join(' '));
      if (sentence !== '') rows.push([hasRow ? `${section} last paragraph` : section, sentence]);
    }
  }
  return { title, rows: rows.filter(([, sentence]) => sentence !== '') };
}

/** Returns the sections that have rows, in order. */
export function readSpecification(markdown: string): Section[] {
  const [, ...sections] = markdown.split(/^##+ /m);
  return sections
    .map((section) => {
      const [title = '', ...blocks] = section.trim().split(/\n\n+/);
      return readSection(
        title,
        blocks.flatMap((block) => block.split(/\n(?=\d+\. )/)),
      );
    })
    .filter(({ rows }) => rows.length > 0);
}
