// Formats each event as one log line.
import { fstatSync } from 'node:fs';
import type { LogLevel, TargetEvent } from '../model.js';
import { pluralize } from '../pluralize.js';

export const LOG_FORMATS = ['text', 'logfmt', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

interface LogEntry {
  /** ISO 8601; empty if the reader of the lines adds its own time. */
  readonly time: string;
  readonly level: LogLevel;
  /** The text of the event, without line breaks. */
  readonly message: string;
  readonly about: TargetEvent['about'];
}

export const FORMATS: Readonly<Record<LogFormat, (entry: LogEntry) => string>> = {
  // A line without a time is for the journal, which shows the level by its priority.
  text: ({ time, level, message }) => (time === '' ? message : `${time} ${level} ${message}`),
  logfmt: (entry) =>
    Object.entries(fieldsOf(entry))
      .map(([key, text]) => `${key}=${logfmtValue(text)}`)
      .join(' '),
  json: (entry) => JSON.stringify(fieldsOf(entry)),
};

const fieldsOf = ({ time, level, message, about }: LogEntry): Readonly<Record<string, string>> => ({
  ...(time && { time }),
  level,
  msg: message,
  ...(about?.app !== undefined && { app: about.app }),
  ...(about?.component !== undefined && { component: about.component }),
  ...(about && { server_key: about.serverKeys.join(',') }),
});

/** A value of logfmt, in quotes if it has blanks, quotes, = or backslashes. */
const logfmtValue = (text: string): string =>
  /^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text);

/** The maximum number of characters of a message. The logger cuts off the rest of a longer message. */
const MAX_CHARACTERS = 16_384;

/** The priorities of syslog. The journal reads them in angle brackets. */
const PRIORITIES: Readonly<Record<LogLevel, number>> = { error: 3, warning: 4, info: 6, debug: 7 };

export interface LogOptions {
  readonly now: () => Date;
  /** The logger drops events below this level. */
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Whether the journal of systemd reads the lines. If so, the lines have a priority and no time. */
  readonly isJournal: boolean;
}

/** @param write writes a line; returns false if it dropped the line because the reader is slow */
export function logger(
  write: (line: string) => boolean,
  { now, level: least, format, isJournal }: LogOptions,
): (event: TargetEvent) => void {
  const line = FORMATS[format];
  const isWritten = ({ level, message, about }: TargetEvent): boolean => {
    const priority = isJournal ? `<${PRIORITIES[level]}>` : '';
    const time = isJournal ? '' : now().toISOString();
    return write(`${priority}${line({ time, level, message: oneLine(message), about })}\n`);
  };
  let dropped = 0;
  return (event) => {
    if (PRIORITIES[event.level] > PRIORITIES[least]) return;
    if (dropped > 0 && isWritten({ level: 'warning', message: droppedText(dropped) })) dropped = 0;
    if (dropped > 0 || !isWritten(event)) dropped++;
  };
}

const droppedText = (count: number): string =>
  `the reader of stderr was too slow: dropped ${pluralize(count, 'line')} of the log`;

/** A message in one line, without control and format characters. Messages contain names that publishers chose. */
function oneLine(message: string): string {
  const parts = message.slice(0, MAX_CHARACTERS).split(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u);
  const text = parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
  const cut = message.length - MAX_CHARACTERS;
  return cut > 0 ? `${text} … and ${cut} more characters` : text;
}

/**
 * Whether a descriptor is the socket of the journal. Compares device and inode, since the descriptor may have been
 * redirected to another file.
 * @param stream the environment variable JOURNAL_STREAM: device and inode of that socket (systemd.exec(5))
 */
export function isJournal(fd: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
