// Reading configuration files as text.
import { expect } from 'chai';
import { readText } from '#app/document/text-file.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('readText', () => {
  const folder = temporaryFolder();
  const complaint = (file: string) =>
    folder.bare(faultMessage('CONFIG_INVALID', () => readText(file)));

  it('reads UTF-8 and leaves a byte order mark out', () =>
    expect(readText(folder.write('c', '\uFEFFa = "é"'))).to.equal('a = "é"'));

  it('names a file that is not there', () =>
    expect(complaint(folder.path('c'))).to.equal('c: cannot be read: no such file'));

  it('names a folder', () =>
    expect(faultMessage('CONFIG_INVALID', () => readText(folder.path()))).to.match(
      /: cannot be read: it is a folder$/,
    ));

  it('takes 1 MiB and refuses one byte more', () => {
    const limit = 1024 * 1024;
    expect(readText(folder.write('c', ' '.repeat(limit)))).to.have.lengthOf(limit);
    expect(complaint(folder.write('c', ' '.repeat(limit + 1)))).to.equal(
      'c: is larger than 1 MiB, which is the limit',
    );
  });

  it('does not drown in a device without end', () =>
    expect(complaint('/dev/zero')).to.equal('/dev/zero: is larger than 1 MiB, which is the limit'));

  it('names line and column of what is not UTF-8', () => {
    const bytes = Buffer.from('a = "é\uFFFD"\nbé = "?"\n');
    bytes[bytes.indexOf('?')] = 0xff;
    expect(complaint(folder.write('c', bytes))).to.equal(
      'c:2:7: found bytes that are not UTF-8 text',
    );
  });
});
