// Tests listings of directories in steps.
import { expect } from 'chai';
import { readNames, readingNames } from '#app/foreign/directory-listing.js';
import { descriptorsOf } from '../support/open-files.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('A listing of a directory', () => {
  const folder = temporaryFolder();
  const names = Array.from({ length: 600 }, (_, index) => `name-${index}`);
  beforeEach(() => {
    for (const name of names) folder.write(name, '');
  });
  const open = (): number => descriptorsOf(folder.path()).length;

  it('has all names, and takes a step for every 256 of them', () => {
    const steps = readingNames(folder.path());
    const done = [steps.next().done, steps.next().done, steps.next().done];
    expect(done).to.deep.equal([false, false, true]);
    expect(readNames(folder.path()).names).to.have.members(names);
  });

  it('closes the directory at its end, and when it is abandoned', () => {
    const steps = readingNames(folder.path());
    steps.next();
    expect(open()).to.equal(1);
    steps.return({ names: [], isTruncated: false });
    readNames(folder.path());
    expect(open()).to.equal(0);
  });
});
