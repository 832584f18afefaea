// Tests the common rules for the command lines and help texts of all programs.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { PROGRAM as BRIDGE } from '#app/bridge/settings/options.js';
import { PROGRAM as EXPORTER } from '#app/config/arguments.js';
import { PROGRAM as DEMO } from '#app/demo/options.js';
import { PROGRAM as DUMP } from '#app/dump/options.js';
import { packageVersion } from '#app/document/package-version.js';
import { COMMANDS, PROGRAM as LICENSE } from '#app/license/options.js';
import { nameOf } from '#app/rules/command-option.js';
import type { CommandOptions } from '#app/rules/command-option.js';
import { readCommandLine } from '#app/rules/command-line.js';
import type { Program } from '#app/rules/program.js';
import { PROGRAM as SIMULATOR } from '#app/simulator/options.js';
import { faultMessage } from '../support/fault-message.js';

const PROGRAMS: readonly Program<CommandOptions>[] = [
  EXPORTER,
  BRIDGE,
  SIMULATOR,
  LICENSE,
  ...Object.values(COMMANDS),
  DUMP,
  DEMO,
];

const SCRIPTS = {
  shm_exporter: 'bin/shm_exporter.js',
  shm_bridge: 'bin/shm_bridge.js',
  shm_simulator: 'bin/shm_simulator.js',
  shm_dump: 'bin/shm_dump.js',
  shm_license: 'bin/shm_license.js',
  demo: 'demo/cli.js',
};

/** Splits a shell line into arguments, as far as the examples need it. */
const argumentsOf = (line: string): string[] =>
  [...line.replace(/ [>&].*$/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  );

function textOf(program: Program<CommandOptions>, option: string): string {
  const line = readCommandLine(program, [option], '1.2.3');
  if (line.kind === 'given') throw new Error(`${option} prints nothing`);
  return line.text;
}

for (const program of PROGRAMS)
  describe(`the command line of ${program.name}`, () => {
    const help = textOf(program, '--help');
    const options = Object.values(program.options);
    const rare = options.filter(({ isRare }) => isRare).map(nameOf);
    const all = rare.length === 0 ? help : textOf(program, '--help-all');
    const words = all.replace(/\s+/g, ' ');

    it('has --version', () => expect(textOf(program, '--version')).to.equal('1.2.3\n'));

    it('rejects an unknown option, and suggests the nearest', () =>
      expect(faultMessage('USAGE', () => textOf(program, '--hlep'))).to.equal(
        'unknown option "--hlep" (did you mean "--help"?)',
      ));

    it('has help with at most 80 columns, and at most 50 lines for --help', () => {
      for (const line of all.split('\n')) expect(line.length, line).to.be.at.most(80);
      expect(help.trimEnd().split('\n').length).to.be.at.most(50);
    });

    it('has help that begins with the required options', () => {
      const needed = options.filter(({ isRequired }) => isRequired).map(({ flags }) => flags);
      const [usage = ''] = all.split('\n');
      for (const flags of needed) expect(usage).to.include(` ${flags} `);
      if (program.operand !== undefined) expect(usage).to.match(/ <\w+>$/);
    });

    it('has help with an example, the exit statuses, and a reference to the documentation', () => {
      const end = /\n\nExamples:\n {2}.+:\n {4}\S.*\n[^]*\nExit status:\n {2}0 {2}\S/;
      for (const text of [help, all]) {
        expect(text).to.match(end);
        expect(text.endsWith(`\n\n${program.reference}\n`)).to.equal(true);
      }
    });

    it('shows the main options for --help, and how many further options --help-all shows', () => {
      const shown = options.map(nameOf).filter((name) => help.includes(`\n  ${name} `));
      expect([...shown, ...rare]).to.have.members(options.map(nameOf));
      expect(/--help-all +Print this help with (\d+) more/.exec(help)?.[1] ?? '0').to.equal(
        String(rare.length),
      );
    });

    for (const option of options)
      it(`describes ${nameOf(option)}, and whether it is required`, () => {
        expect(words).to.include(`${option.flags} ${option.meaning}`);
        const mark = option.isRequired ? ' (required)' : '';
        const fallback = option.shownDefault === '' ? '' : ` (default: ${option.shownDefault})`;
        expect(words).to.include(`${option.meaning}${mark}${fallback}`);
      });

    for (const [purpose, line] of program.examples)
      it(`accepts its own example: ${purpose}`, () => {
        const commands: Readonly<Record<string, Program<CommandOptions>>> = COMMANDS;
        const [, ...argv] = argumentsOf(line.replace(/^npm run demo( --)?/, 'demo'));
        const command = line.startsWith('shm_license') ? commands[argv[0] ?? ''] : undefined;
        const read = readCommandLine(command ?? program, command ? argv.slice(1) : argv, '1');
        expect(read.kind).to.equal('given');
      });
  });

describe('every program', function () {
  this.slow(2000);
  for (const [name, script] of Object.entries(SCRIPTS)) {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [`dist/${script}`, ...args], { encoding: 'utf8' });

    it(`prints the version of the package: ${name}`, () =>
      expect(run('--version')).to.include({ status: 0, stdout: `${packageVersion()}\n` }));

    // For the other programs, their own tests cover this mistake.
    if (!['shm_exporter', 'shm_dump'].includes(name)) continue;
    it(`exits with status 2 and one line for an unknown option: ${name}`, () => {
      const { status, stdout, stderr } = run('--hlep');
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(/^\w+: unknown option "--hlep" \(did you mean "--help"\?\)\n$/);
    });
  }
});
