#!/usr/bin/env node
// shm_license: issues, shows and verifies licenses, and makes the keys that sign them.
import { Command, CommanderError } from 'commander';
import { Fault, messageOf } from '../errors.js';
import { issueLicense } from './issue-license.js';
import { FIELDS, parseDocument } from './license-document.js';
import { readDocument, readLicense } from './license-file.js';
import { writeLicense } from './license-output.js';
import { termOf } from './license-term.js';
import type { TermOptions } from './license-term.js';
import { makeKeyPair } from './signing-key.js';
import { formatUtc } from './utc-time.js';

interface IssueOptions extends TermOptions {
  readonly licensee: string;
  readonly out: string;
  readonly key?: string;
}

const now = new Date();
const print = (...lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`);

function issue({ licensee, out, key, ...term }: IssueOptions): void {
  const terms = { licensee, ...termOf(term, now) };
  const text = issueLicense(key === undefined ? terms : { ...terms, keyFile: key });
  writeLicense(out, text);
  const { license_id, expires_at } = parseDocument(text, out);
  print(`${out}: license ${license_id} for ${licensee}, expires at ${expires_at}`);
}

function show(path: string): void {
  const document = readDocument(path);
  print(...FIELDS.map((field) => `${field.padEnd(11)} ${document[field]}`));
  print(`${'standing'.padEnd(11)} ${standingOf(path)}`);
}

function standingOf(path: string): string {
  try {
    const { standing, warning } = readLicense(path, now);
    return warning === '' ? standing : `${standing}: ${warning}`;
  } catch (thrown) {
    return `refused: ${messageOf(thrown)}`;
  }
}

function verify(path: string): void {
  const { license, warning } = readLicense(path, now);
  print(
    warning === ''
      ? `license ${license.id} for ${license.licensee} is valid until ${formatUtc(license.expiresAt)}`
      : warning,
  );
}

function keygen({ outDir, name }: { readonly outDir: string; readonly name: string }): void {
  print(...makeKeyPair(outDir, name));
}

const program = new Command('shm_license')
  .description('Issues, shows and verifies the licenses of shm_exporter')
  .helpCommand(false)
  .exitOverride()
  .configureOutput({ writeErr: () => undefined });

program
  .command('issue')
  .description('write a signed license')
  .requiredOption('--licensee <name>', 'who the license is for')
  .requiredOption('--out <file>', 'where to write it; an older license there is replaced')
  .option('--days <n>', 'how long it lasts')
  .option('--issued-at <time>', 'when it begins, such as 2026-01-31T00:00:00Z (default: now)')
  .option('--expires-at <time>', 'when it ends, whatever --days says')
  .option('--key <file>', 'private key <key id>.key.pem (default: the evaluation key)')
  .action(issue);
program
  .command('show')
  .description('print what a license says and how it stands')
  .argument('<file>')
  .action(show);
program
  .command('verify')
  .description('exit with 0 when a start would accept the license now, else with 3')
  .argument('<file>')
  .action(verify);
program
  .command('keygen')
  .description('make <name>.key.pem, to be kept secret, and <name>.pub.pem, to be shipped')
  .requiredOption('--out-dir <dir>', 'where to write both; nothing is overwritten')
  .option('--name <name>', 'key id', 'vendor')
  .action(keygen);

// Last, as commands take over from the program what it allows.
program.allowExcessArguments().action((_options, { args: [name] }: Command) => {
  const found = name === undefined ? 'No command' : `Unknown command ${JSON.stringify(name)}`;
  throw new Fault('USAGE', `${found}; the commands are issue, show, verify and keygen`);
});

/** 0 as well, for what commander throws after it has printed a help text. */
function exitOf(thrown: unknown): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  return thrown instanceof Fault ? thrown.exit : 1;
}

/** Commander puts its suggestions on a second line. */
const oneLine = (text: string) => text.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');

try {
  program.parse();
} catch (thrown) {
  process.exitCode = exitOf(thrown);
  if (process.exitCode !== 0) process.stderr.write(`shm_license: ${oneLine(messageOf(thrown))}\n`);
}
