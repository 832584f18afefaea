// Finds the fenced code blocks of a documentation page, and the commands in blocks that show a terminal
// session.

/** A fenced block of a page. */
export interface PageBlock {
  /** The word after the fence, such as `console`; '' without one. */
  readonly language: string;
  /** The line number of its first line in the page, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
  /** The heading above the block. */
  readonly heading: string;
  /**
   * The file in which to save the block: the last file in the block's language that the text line above the block
   * names.
   */
  readonly file: string | undefined;
}

/** A command of a page, and the part of its output that the page shows. */
export interface PageCommand {
  /** `#` if root runs the command, otherwise `$`. */
  readonly prompt: '$' | '#';
  readonly line: number;
  readonly command: string;
  readonly output: readonly string[];
}

const ENDINGS: Readonly<Record<string, string>> = { ts: '[mc]?ts', yaml: 'ya?ml' };

function fileIn(text: string, language: string): string | undefined {
  const ending = ENDINGS[language] ?? language;
  const names = [...text.matchAll(new RegExp(`\`([\\w./-]+\\.(?:${ending}))\``, 'g'))];
  return names.at(-1)?.[1];
}

/** @throws when a fence is not closed */
export function pageBlocks(page: string): PageBlock[] {
  const lines = page.split('\n');
  const blocks: PageBlock[] = [];
  let heading = '';
  let text = '';
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const [, language] = /^```(\w*)$/.exec(line) ?? [];
    if (language === undefined) {
      heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
      if (line !== '') text = line;
      continue;
    }
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`The block of line ${at + 1} has no end`);
    const content = lines.slice(at + 1, end);
    const file = fileIn(text, language);
    blocks.push({ language, line: at + 2, lines: content, heading, file });
    [at, text] = [end, ''];
  }
  return blocks;
}

/**
 * Returns the commands of a block. In a terminal session, each command follows `$ ` or `# `. A script is
 * one command.
 */
export function commandsOf({ language, line, lines }: PageBlock): PageCommand[] {
  if (language === 'sh') return [{ prompt: '$', line, command: lines.join('\n'), output: [] }];
  const commands: { -readonly [K in keyof PageCommand]: PageCommand[K] }[] = [];
  for (const [i, text] of lines.entries()) {
    // `# HELP` is a line of a metrics page, not a command.
    const [, prompt, command] = /^(\$|#(?= [a-z./])) (.*)$/.exec(text) ?? [];
    const last = commands.at(-1);
    if (prompt === '$' || prompt === '#')
      commands.push({ prompt, line: line + i, command: command ?? '', output: [] });
    else if (last === undefined) throw new Error(`Line ${line + i} shows output of no command`);
    else if (last.command.endsWith('\\')) last.command += `\n${text}`;
    else last.output = [...last.output, text];
  }
  return commands;
}
