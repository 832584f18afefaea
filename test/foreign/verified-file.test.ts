// Tests which files of other programs are trusted, and how a change of a file is detected.
import { appendFileSync, chmodSync, linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { getuid } from 'node:process';
import { expect } from 'chai';
import { Fault } from '#app/errors.js';
import { VerifiedFile, withDirectory, unreadableReason } from '#app/foreign/verified-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const UID = getuid?.() ?? 0;

describe('A file of another program', () => {
  const folder = temporaryFolder();
  const open = (name: string, uid = UID): VerifiedFile =>
    new VerifiedFile(folder.path(name), uid, 100);

  /** Returns the message for an operator about a file that cannot be read. */
  function refusal(name: string, uid = UID): string {
    try {
      open(name, uid).close();
      return '';
    } catch (error) {
      return unreadableReason(error);
    }
  }

  it('is readable from any position up to its end', () => {
    folder.write('a', 'counters');
    const file = open('a');
    const bytes = Buffer.alloc(6);
    expect(file.read(bytes, 5)).to.equal(3);
    expect(bytes.toString('latin1', 0, 3)).to.equal('ers');
    expect(file.size).to.equal(8);
    file.close();
  });

  it('is not readable once it is closed, even if another file has got its number', () => {
    folder.write('a', 'counters');
    folder.write('b', 'others');
    const file = open('a');
    file.close();
    const other = open('b');
    expect(() => file.read(Buffer.alloc(6), 0)).to.throw('fd');
    file.close();
    expect(other.read(Buffer.alloc(6), 0)).to.equal(6);
    other.close();
  });

  it('has a new stamp after a write, and after its name is removed', () => {
    const path = folder.write('a', 'x');
    const file = open('a');
    const stamps = new Set([file.stamp]);
    appendFileSync(path, 'y');
    stamps.add(file.stamp);
    rmSync(path);
    stamps.add(file.stamp);
    expect(stamps.size).to.equal(3);
    expect(file.isUnlinked).to.equal(true);
    file.close();
  });

  it('is refused if it is not a regular file, has two names, is a link, is too large, or belongs to another user', () => {
    mkdirSync(folder.path('folder'));
    expect(refusal('folder')).to.equal('is not a regular file');
    linkSync(folder.write('a', ''), folder.path('b'));
    expect(refusal('a')).to.equal('has 2 hard links, allowed: 1');
    symlinkSync('a', folder.path('link'));
    expect(refusal('link')).to.equal('is a link');
    folder.write('large', 'x'.repeat(101));
    expect(refusal('large')).to.equal('has 101 bytes, allowed: at most 100');
    chmodSync(folder.write('shared', ''), 0o620);
    expect(refusal('shared')).to.equal('is writable by other users');
    folder.write('own', '');
    expect(refusal('own', UID + 1)).to.equal(
      `belongs to user ${UID}, but its directory to user ${UID + 1}`,
    );
    expect(refusal('own')).to.equal('');
  });

  it('is refused if its directory is a link, or other users may write to the directory', () => {
    mkdirSync(folder.path('real'), { mode: 0o755 });
    symlinkSync('real', folder.path('link'));
    const reach = (name: string) =>
      withDirectory({ base: folder.path(), below: [name] }, ({ uid }) => uid);
    expect(reach('real')).to.equal(UID);
    expect(() => reach('link')).to.throw();
    chmodSync(folder.path('real'), 0o770);
    expect(() => reach('real')).to.throw(Fault, /is writable by other users$/);
  });
});
