// Log lines for stderr, one line an event. If nothing reads them, they are lost and the process goes on.
import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { LogLevel, TargetEvent } from '../model.js';

// The forms that a log line can have.
export const LOG_FORMATS = ['text', 'logfmt', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

interface LogEntry {
  /** ISO 8601; empty where the reader of the lines adds a time of its own. */
  readonly time: string;
  readonly level: LogLevel;
  /** In one line. */
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

/** Bare where no reader could take it for anything else, else in quotes. */
const logfmtValue = (text: string): string =>
  /^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text);

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

/** The most bytes that wait for a slow reader. */
const MAX_WAITING = 1 << 20;

/**
 * A writer that never blocks or throws, and buffers little.
 * @param stream of the descriptor `fd`, as the process has it
 */
export function logWriter(stream: Writable, fd: number): (text: string) => void {
  // A closed reader is an `error` event, which ends a process without a listener.
  stream.on('error', () => undefined);
  if (stream instanceof Socket)
    return (text) => {
      if (stream.writableLength < MAX_WAITING) stream.write(text);
    };
  return (text) => {
    try {
      // Not by the stream: once a disk was full, a file stream never writes again.
      writeSync(fd, text);
    } catch {
      // There is no other place to report it.
    }
  };
}

/**
 * @param stream the variable JOURNAL_STREAM, which has device and inode of the journal's socket
 *   (systemd.exec(5)); a descriptor that was redirected since is another file
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
