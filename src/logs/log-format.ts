// The forms that a log line can have.
import type { LogLevel, TargetEvent } from '../model.js';

export const LOG_FORMATS = ['text', 'logfmt', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

interface Entry {
  /** ISO 8601; empty where the reader of the lines adds a time of its own. */
  readonly time: string;
  readonly level: LogLevel;
  /** In one line. */
  readonly message: string;
  readonly about: TargetEvent['about'];
}

export const FORMATS: Readonly<Record<LogFormat, (entry: Entry) => string>> = {
  // The journal shows the level by its priority.
  text: ({ time, level, message }) => (time === '' ? message : `${time} ${level} ${message}`),
  logfmt: (entry) =>
    Object.entries(fieldsOf(entry))
      .map(([key, text]) => `${key}=${logfmtValue(text)}`)
      .join(' '),
  json: (entry) => JSON.stringify(fieldsOf(entry)),
};

const fieldsOf = ({ time, level, message, about }: Entry): Readonly<Record<string, string>> => ({
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
