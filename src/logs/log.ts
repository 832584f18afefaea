// Writes one log line for each event to stderr, without blocking. Lines are lost if nothing reads them.
import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { LogLevel, TargetEvent } from '../model.js';

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
  // The journal shows the level by its priority.
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
  /** Whether the journal of systemd reads the lines. They then have a priority and no time. */
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

/** A message in one line, without control and format characters. Messages contain names that publishers chose. */
function oneLine(message: string): string {
  const parts = message.slice(0, MAX_CHARACTERS).split(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u);
  const text = parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
  const cut = message.length - MAX_CHARACTERS;
  return cut > 0 ? `${text} … and ${cut} characters more` : text;
}

/** The maximum number of bytes to buffer for a slow reader. */
const MAX_BUFFERED = 1 << 20;

/**
 * Makes a writer that never blocks or throws. It drops lines while the buffer is full.
 * @param stream the stream of the process for the descriptor `fd`
 */
export function logWriter(stream: Writable, fd: number): (text: string) => void {
  // A reader that closes the pipe causes an `error` event, which would end the process without a listener.
  stream.on('error', () => undefined);
  if (stream instanceof Socket)
    return (text) => {
      if (stream.writableLength < MAX_BUFFERED) stream.write(text);
    };
  return (text) => {
    try {
      // Not through the stream: a file stream never writes again after the disk was full.
      writeSync(fd, text);
    } catch {
      // Stderr is the only place for reports.
    }
  };
}

/**
 * Whether a descriptor is the socket of the journal. A redirected descriptor is another file.
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
