// Tests log lines, and the detection of the systemd journal.
import { expect } from 'chai';
import fc from 'fast-check';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { FORMATS, isJournal, logger } from '#app/logs/log.js';
import type { LogOptions } from '#app/logs/log.js';
import { LOG_LEVELS } from '#app/model.js';
import type { TargetEvent } from '#app/model.js';
import { anyCharacter } from '../support/any-character.js';

describe('logger', () => {
  const logged = (options: Partial<LogOptions>, ...events: readonly TargetEvent[]): string => {
    let lines = '';
    const write = (line: string) => {
      lines += line;
      return true;
    };
    const log = logger(write, {
      ...{ now: () => new Date(0), level: 'info', format: 'text', isJournal: false },
      ...options,
    });
    for (const event of events) log(event);
    return lines;
  };
  const table = [
    ['writes an info event', 'info', 'info', 'ready', '1970-01-01T00:00:00.000Z info ready\n'],
    ['writes a warning', 'warning', 'info', 'late', '1970-01-01T00:00:00.000Z warning late\n'],
    [
      'writes a debug event at log level debug',
      'debug',
      'debug',
      'detail',
      '1970-01-01T00:00:00.000Z debug detail\n',
    ],
    ['omits a debug event at log level info', 'debug', 'info', 'detail', ''],
    [
      'replaces line breaks with blanks',
      'info',
      'info',
      'one\n  two\r\nthree',
      '1970-01-01T00:00:00.000Z info one two three\n',
    ],
    [
      'replaces control characters with blanks',
      'info',
      'info',
      'a\u001b[2Jb\rc\0d\u2028e\u202ef',
      '1970-01-01T00:00:00.000Z info a [2Jb c d e f\n',
    ],
  ] as const;
  for (const [title, level, logLevel, message, line] of table)
    it(title, () => {
      expect(logged({ level: logLevel }, { level, message })).to.equal(line);
    });

  it('writes how many lines were dropped for a slow reader, and then the next line', () => {
    let lines = '';
    let isSlow = false;
    const write = (line: string) => {
      if (!isSlow) lines += line;
      return !isSlow;
    };
    const log = logger(write, {
      ...{ now: () => new Date(0), level: 'info', format: 'text', isJournal: true },
    });
    const info = (message: string): void => {
      log({ level: 'info', message });
    };
    info('one');
    isSlow = true;
    ['two', 'three'].forEach(info);
    log({ level: 'debug', message: 'not logged anyway' });
    isSlow = false;
    ['four', 'five'].forEach(info);
    expect(lines).to.equal(
      '<6>one\n<4>the reader of stderr was too slow: dropped 2 lines of the log\n<6>four\n<6>five\n',
    );
  });

  it('truncates a long message in bounded time', () => {
    const line = logged({}, { level: 'info', message: `a${' '.repeat(4_000_000)}b` });
    expect(line).to.match(/ info a … and 3983618 more characters\n$/);
  });

  it('keeps the order of events', () => {
    const events = ['a', 'b'].map((message) => ({ level: 'info', message }) as const);
    expect(logged({}, ...events)).to.match(/ a\n.* b\n$/);
  });

  const about = { app: 'ads', serverKeys: ['82', '456'] };
  const late: TargetEvent = { level: 'warning', message: 'target ads is "late"', about };
  const AT = '1970-01-01T00:00:00.000Z';
  const forms = [
    ['text', false, `${AT} warning target ads is "late"`],
    ['text', true, '<4>target ads is "late"'],
    [
      'logfmt',
      false,
      `time=${AT} level=warning msg="target ads is \\"late\\"" app=ads server_key=82,456`,
    ],
    ['logfmt', true, '<4>level=warning msg="target ads is \\"late\\"" app=ads server_key=82,456'],
    [
      'json',
      false,
      `{"time":"${AT}","level":"warning","msg":"target ads is \\"late\\"","app":"ads","server_key":"82,456"}`,
    ],
    [
      'json',
      true,
      '<4>{"level":"warning","msg":"target ads is \\"late\\"","app":"ads","server_key":"82,456"}',
    ],
  ] as const;
  for (const [format, isJournal, line] of forms)
    it(`writes ${format} to ${isJournal ? 'the journal' : 'a file'}`, () =>
      expect(logged({ format, isJournal }, late)).to.equal(`${line}\n`));

  it('writes the events of its level and above', () => {
    const all = LOG_LEVELS.map((level): TargetEvent => ({ level, message: level }));
    LOG_LEVELS.forEach((level, index) => {
      const levels = logged({ level }, ...all).match(/\w+$/gm);
      expect(levels).to.deep.equal(LOG_LEVELS.slice(index));
    });
  });

  it('writes each event as one line in every format, and a parser can restore the message from this line', () =>
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (message) => {
        for (const format of Object.keys(FORMATS) as (keyof typeof FORMATS)[]) {
          const line = logged({ format }, { level: 'info', message });
          expect(line.match(/[\n\r]/g)).to.deep.equal(['\n']);
          if (format === 'json')
            expect((JSON.parse(line) as { msg: string }).msg).to.equal(
              logged({}, { level: 'info', message }).slice(`${AT} info `.length, -1),
            );
        }
      }),
      { numRuns: 40 },
    ));
});

// Tests isJournal(), which detects that log lines go to the systemd journal.
describe('isJournal', () => {
  let fd = -1;
  before(() => (fd = openSync('/dev/null', 'r')));
  after(() => {
    closeSync(fd);
  });

  it('is true only for the file that JOURNAL_STREAM names', () => {
    const { dev, ino } = fstatSync(fd);
    expect(isJournal(fd, `${dev}:${ino}`)).to.equal(true);
    expect(isJournal(fd, `${dev}:${ino + 1}`), 'redirected since').to.equal(false);
    expect(isJournal(fd, 'nonsense')).to.equal(false);
    expect(isJournal(fd, undefined), 'not started by systemd').to.equal(false);
  });

  it('is false for a closed descriptor', () => expect(isJournal(1_000_000, '1:2')).to.equal(false));
});
