// Log lines for stderr.
import { expect } from 'chai';
import { logger } from '#app/logs/log.js';
import type { TargetEvent } from '#app/model.js';

describe('logger', () => {
  const logged = (isDebug: boolean, ...events: readonly TargetEvent[]): string => {
    let lines = '';
    const log = logger(
      (line) => (lines += line),
      () => new Date(0),
      isDebug,
    );
    for (const event of events) log(event);
    return lines;
  };
  const table = [
    ['info', false, 'ready', '1970-01-01T00:00:00.000Z info ready\n'],
    ['warning', false, 'late', '1970-01-01T00:00:00.000Z warning late\n'],
    ['debug', true, 'detail', '1970-01-01T00:00:00.000Z debug detail\n'],
    ['debug', false, 'detail', ''],
    ['info', false, 'one\n  two\r\nthree', '1970-01-01T00:00:00.000Z info one two three\n'],
    // What a terminal would obey, and what a reader would take for another line.
    [
      'info',
      false,
      'a\u001b[2Jb\rc\0d\u2028e\u202ef',
      '1970-01-01T00:00:00.000Z info a [2Jb c d e f\n',
    ],
  ] as const;
  for (const [level, isDebug, message, line] of table)
    it(`${level} ${JSON.stringify(message)} ${isDebug ? 'with' : 'without'} debug`, () => {
      expect(logged(isDebug, { level, message })).to.equal(line);
    });

  it('takes a message of any length and content in no time, and writes the begin of it', () => {
    const line = logged(false, { level: 'info', message: `a${' '.repeat(4_000_000)}b` });
    expect(line).to.match(/ info a … and 3983618 characters more\n$/);
  });

  it('keeps the order of what it is told', () => {
    const events = ['a', 'b'].map((message) => ({ level: 'info', message }) as const);
    expect(logged(false, ...events)).to.match(/ a\n.* b\n$/);
  });
});
