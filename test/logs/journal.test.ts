// When log lines go to the journal of systemd.
import { closeSync, fstatSync, openSync } from 'node:fs';
import { expect } from 'chai';
import { isJournal } from '#app/logs/log.js';

describe('isJournal', () => {
  let fd = -1;
  before(() => (fd = openSync('/dev/null', 'r')));
  after(() => {
    closeSync(fd);
  });

  it('holds for the file that JOURNAL_STREAM names, and no other', () => {
    const { dev, ino } = fstatSync(fd);
    expect(isJournal(fd, `${dev}:${ino}`)).to.equal(true);
    expect(isJournal(fd, `${dev}:${ino + 1}`), 'redirected since').to.equal(false);
    expect(isJournal(fd, 'nonsense')).to.equal(false);
    expect(isJournal(fd, undefined), 'not started by systemd').to.equal(false);
  });

  it('does not hold for a descriptor that is closed', () =>
    expect(isJournal(1_000_000, '1:2')).to.equal(false));
});
