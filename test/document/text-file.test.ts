// Tests reading configuration files as text.
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { readText } from '#app/document/text-file.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('readText', () => {
  const folder = temporaryFolder();
  const complaint = (file: string) =>
    folder.bare(faultMessage('CONFIG_INVALID', () => readText(file)));

  it('reads UTF-8 and omits a byte order mark', () =>
    expect(readText(folder.write('c', '\uFEFFa = "é"'))).to.equal('a = "é"'));

  const refused: readonly (readonly [
    kind: string,
    make: (path: string) => unknown,
    line: string,
  ])[] = [
    ['a missing file', () => undefined, 'c: cannot be read: no such file or folder'],
    ['a folder', mkdirSync, 'c: is a folder, needed: a regular file'],
    [
      'a pipe without a writer',
      (path) => execFileSync('mkfifo', [path]),
      'c: is a pipe, needed: a regular file',
    ],
    [
      'an endless device',
      (path) => {
        symlinkSync('/dev/zero', path);
      },
      'c: is a device, needed: a regular file',
    ],
    [
      'a link to itself',
      (path) => {
        symlinkSync(path, path);
      },
      'c: cannot be read: its symbolic links form a loop',
    ],
  ];
  for (const [kind, make, line] of refused)
    it(`rejects ${kind}, and gives the reason in one line`, () => {
      make(folder.path('c'));
      expect(complaint(folder.path('c'))).to.equal(line);
    });

  it('reports a path that has a file in place of a folder', () =>
    expect(complaint(`${folder.write('c', '')}/d`)).to.equal(
      'c/d: cannot be read: a part of its path is not a folder',
    ));

  it('reads files without a known size', () =>
    expect(readText('/proc/self/status')).to.include('Name:'));

  it('accepts 1 MiB and rejects one byte more', () => {
    const limit = 1024 * 1024;
    expect(readText(folder.write('c', ' '.repeat(limit)))).to.have.lengthOf(limit);
    expect(complaint(folder.write('c', ' '.repeat(limit + 1)))).to.equal(
      'c: is larger than the limit of 1 MiB',
    );
  });

  it('reports line and column of invalid UTF-8', () => {
    const bytes = Buffer.from('a = "é\uFFFD"\nbé = "?"\n');
    bytes[bytes.indexOf('?')] = 0xff;
    expect(complaint(folder.write('c', bytes))).to.equal(
      'c:2:7: has bytes that are not UTF-8 text',
    );
  });
});
