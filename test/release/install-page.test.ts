// Tests the command lines in docs/install.md.
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { parseArguments } from '#app/config/arguments.js';
import { COMMANDS } from '#app/license/options.js';
import { readCommandLine } from '#app/rules/command-line.js';

const PAGE = 'docs/install.md';
const page = readFileSync(PAGE, 'utf8');

/** Splits a command line into words, without their quotes. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

/** Returns the arguments of each line of the page that runs this program. */
const runs = (program: string): string[][] =>
  [...page.matchAll(new RegExp(`^[$#] (?:dist/bin/)?${program}(?:\\.js)? (.*)$`, 'gm'))].map(
    ([, line = '']) => wordsOf(line),
  );

describe(PAGE, () => {
  it('has only command lines that the programs accept', () => {
    const exporters = runs('shm_exporter');
    expect(exporters).to.have.lengthOf(4);
    for (const line of exporters) expect(parseArguments(line, '').kind).not.to.equal('print');
    const licenses = runs('shm_license');
    expect(licenses).to.have.lengthOf(4);
    for (const [command, ...line] of licenses) {
      expect(command).to.equal('issue');
      expect(readCommandLine(COMMANDS.issue, line, '').kind).to.equal('given');
    }
  });

  it('names the current version, and only files that exist', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const versions = [...page.matchAll(/(?<![\d.])\d+\.\d+\.\d+(?![\d.]*\d)/g)].map(
      ([found]) => found,
    );
    expect(new Set(versions)).to.deep.equal(new Set([version]));
    for (const [, file = ''] of page.matchAll(/-f (deploy\/\S+)/g))
      expect(existsSync(file), file).to.equal(true);
  });
});
