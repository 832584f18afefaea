// Log lines for stderr: one line an event, always.
import type { LogLevel, TargetEvent } from '../model.js';
import { FORMATS } from './log-format.js';
import type { LogFormat } from './log-format.js';

/** The most characters of a message that are written. */
const MAX_CHARACTERS = 16_384;

/** The priorities of syslog, which the journal takes in angle brackets. */
const PRIORITIES: Readonly<Record<LogLevel, number>> = { error: 3, warning: 4, info: 6, debug: 7 };

export interface LogOptions {
  readonly now: () => Date;
  /** The least level that is written. */
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Whether the journal reads the lines: it has a clock of its own, and wants priorities. */
  readonly isJournal: boolean;
}

export function logger(
  write: (line: string) => void,
  { now, level: least, format, isJournal }: LogOptions,
): (event: TargetEvent) => void {
  const line = FORMATS[format];
  return ({ level, message, about }) => {
    if (PRIORITIES[level] > PRIORITIES[least]) return;
    const priority = isJournal ? `<${PRIORITIES[level]}>` : '';
    const time = isJournal ? '' : now().toISOString();
    write(`${priority}${line({ time, level, message: oneLine(message), about })}\n`);
  };
}

/**
 * A message without what a terminal would obey or a reader take for another line. Messages hold
 * names that publishers chose.
 */
function oneLine(message: string): string {
  const parts = message.slice(0, MAX_CHARACTERS).split(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u);
  const text = parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
  const cut = message.length - MAX_CHARACTERS;
  return cut > 0 ? `${text} … and ${cut} characters more` : text;
}
