#!/usr/bin/env node
// shm_license: issues, shows and verifies licenses, and makes the keys that sign them.
import '../stdio/process-streams.js';
import { packageVersion } from '../document/package-version.js';
import { messageOf } from '../errors.js';
import { chooseCommand, readCommandLine } from '../rules/command-line.js';
import type { CommandOptions, OptionValues } from '../rules/command-option.js';
import type { Program } from '../rules/program.js';
import { fail, print } from '../stdio/print.js';
import { issueLicense, writeLicense } from './issue-license.js';
import { FIELDS, formatUtc, parseDocument, termOf } from './license-document.js';
import { readDocument, readLicense } from './license-watch.js';
import { COMMANDS, ISSUE, KEYGEN, PROGRAM, SHOW, VERIFY } from './options.js';
import { makeKeyPair, trustedKeys } from './license-keys.js';

const now = new Date();
const printLines = (...lines: readonly string[]): void => {
  print(`${lines.join('\n')}\n`);
};

function issue({ licensee, out, key, ...term }: OptionValues<typeof ISSUE.options>): void {
  const terms = { licensee, ...termOf(term, now) };
  const text = issueLicense(key === undefined ? terms : { ...terms, keyFile: key });
  writeLicense(out, text);
  const { license_id, expires_at } = parseDocument(text, out);
  const note = Date.parse(expires_at) <= now.getTime() ? ' (has expired)' : '';
  printLines(`${out}: license ${license_id} for ${licensee}, expires at ${expires_at}${note}`);
}

function show({ keysDir }: OptionValues<typeof SHOW.options>, path: string): void {
  const document = readDocument(path);
  printLines(...FIELDS.map((field) => `${field.padEnd(11)} ${document[field]}`));
  printLines(`${'state'.padEnd(11)} ${stateText(path, keysDir)}`);
}

/** The state and the warning of a license, or the reason why the exporter refuses the license, as text. */
function stateText(path: string, keysDir: string): string {
  try {
    const { state, warning } = readLicense(path, now, trustedKeys(keysDir));
    return warning === '' ? state : `${state}: ${warning}`;
  } catch (thrown) {
    return `refused: ${messageOf(thrown)}`;
  }
}

function verify({ keysDir }: OptionValues<typeof VERIFY.options>, path: string): void {
  const { license, warning } = readLicense(path, now, trustedKeys(keysDir));
  printLines(
    warning === ''
      ? `license ${license.id} for ${license.licensee} is valid until ${formatUtc(license.expiresAt)}`
      : warning,
  );
}

function keygen({ outDir, name }: OptionValues<typeof KEYGEN.options>): void {
  printLines(...makeKeyPair(outDir, name));
}

function perform<O extends CommandOptions>(
  program: Program<O>,
  argv: readonly string[],
  act: (options: OptionValues<O>, file: string) => void,
): void {
  const line = readCommandLine(program, argv, packageVersion());
  if (line.kind === 'text') print(line.text);
  else act(line.options, line.operand);
}

function main(): void {
  const [names, args] = [Object.keys(COMMANDS), process.argv.slice(2)];
  const chosen = chooseCommand(PROGRAM, names, args, packageVersion());
  if (chosen.kind === 'text') {
    print(chosen.text);
    return;
  }
  const { name, argv } = chosen;
  if (name === 'issue') perform(ISSUE, argv, issue);
  if (name === 'show') perform(SHOW, argv, show);
  if (name === 'verify') perform(VERIFY, argv, verify);
  if (name === 'keygen') perform(KEYGEN, argv, keygen);
}

try {
  main();
} catch (thrown) {
  fail(process, 'shm_license', thrown);
}
