// Tests that manual pages and completions have the options of --help.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { PROGRAM as BRIDGE } from '#app/bridge/settings/options.js';
import { BUILT_IN_APPS } from '#app/catalogue/builtin.js';
import { PROGRAM as EXPORTER } from '#app/config/arguments.js';
import { KNOWN_APPS } from '#app/config/options.js';
import { PROGRAM as DUMP } from '#app/dump/options.js';
import { COMMANDS, PROGRAM as LICENSE } from '#app/license/options.js';
import { nameOf } from '#app/rules/command-option.js';
import type { CommandOptions } from '#app/rules/command-option.js';
import type { Program } from '#app/rules/program.js';
import { PROGRAM as SIMULATOR } from '#app/simulator/options.js';
import { FORMATS } from '#app/targets/formats.js';
import { isInstalled } from '../support/processes.js';
import { suiteFolder } from '../support/suite-folder.js';

const PROGRAMS: readonly Program<CommandOptions>[] = [EXPORTER, BRIDGE, LICENSE, SIMULATOR, DUMP];

/** Whether the program has options that only --help-all shows. */
const isLong = ({ options }: Program<CommandOptions>): boolean =>
  Object.values(options).some(({ isRare }) => isRare);

describe('the manual pages and shell completions of a release', function () {
  this.slow(2000);
  const folder = suiteFolder('shm-pages-');
  const read = (place: string) => readFileSync(folder('share', place), 'utf8');
  const check = (program: string, ...args: readonly string[]) =>
    spawnSync(program, args, { encoding: 'utf8' });

  before(() => {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['scripts/release/cli.js', '--only', 'pages', '--out', folder()],
      { encoding: 'utf8', env: { ...process.env, SOURCE_DATE_EPOCH: '1800000000' } },
    );
    expect(status, stderr).to.equal(0);
  });

  it('exist for every program of the package', () => {
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: object };
    const pages = readdirSync(folder('share/man/man1'));
    expect(pages).to.have.members(Object.keys(bin).map((name) => `${name}.1`));
    expect(PROGRAMS.map(({ name }) => name)).to.have.members(Object.keys(bin));
  });

  for (const program of PROGRAMS) {
    const { name } = program;
    const all = [program, ...(program === LICENSE ? Object.values(COMMANDS) : [])];
    const options = all.flatMap((each) => Object.values(each.options));
    const names = [
      ...options.map(nameOf),
      '--version',
      '--help',
      ...(isLong(program) ? ['--help-all'] : []),
    ];

    it(`have every option of ${name}`, () => {
      const page = read(`man/man1/${name}.1`).replaceAll('\\-', '-');
      for (const option of names) {
        expect(page).to.include(`.B ${option}`);
        expect(read(`bash-completion/completions/${name}`)).to.include(option);
        expect(read(`zsh/vendor-completions/_${name}`)).to.include(`'${option}[`);
        expect(read(`fish/vendor_completions.d/${name}.fish`)).to.include(` -l ${option.slice(2)}`);
      }
      expect(page).to.match(/^\.TH SHM_\w+ 1 "2027-01-15" "shm_exporter /);
      for (const status of Object.keys(program.statuses))
        expect(page).to.include(`.TP\n${status}\n`);
    });

    it(`are valid for man and the shells: ${name}`, () => {
      const quiet = { status: 0, stdout: '', stderr: '' };
      const checks = {
        bash: ['-n', folder('share/bash-completion/completions', name)],
        zsh: ['-n', folder('share/zsh/vendor-completions', `_${name}`)],
        fish: ['-n', folder('share/fish/vendor_completions.d', `${name}.fish`)],
        groff: ['-man', '-ww', '-z', folder('share/man/man1', `${name}.1`)],
      };
      for (const [reader, args] of Object.entries(checks))
        if (isInstalled(reader)) expect(check(reader, ...args), reader).to.include(quiet);
    });
  }

  /** Returns the completions that bash offers for the last word. */
  function offered(...words: readonly string[]): string[] {
    const script =
      'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; printf "%s\\n" "${COMPREPLY[@]}"';
    const file = folder('share/bash-completion/completions', words[0] ?? '');
    const { stdout, stderr } = check('bash', '-c', script, file, ...words);
    expect(stderr).to.equal('');
    return stdout.trim().split('\n');
  }

  const offers = [
    [['shm_exporter', '--metrics'], ['--metrics-port']],
    [['shm_exporter', '--config', 'README'], ['README.md']],
    [
      ['shm_exporter', '--app', ''],
      [...BUILT_IN_APPS, 'varnish'],
    ],
    [
      ['shm_exporter', '--app', 'a'],
      ['ads', 'adh', 'ats'],
    ],
    [['shm_exporter', '--log-level', 'w'], ['warning']],
    [
      ['shm_exporter', '--log-format', ''],
      ['text', 'logfmt', 'json'],
    ],
    [['shm_exporter', '--stdout-format', 'm'], ['merged']],
    [['shm_exporter', '--stdout-format', '=', 'j'], ['json']],
    [
      ['shm_exporter', '--stdout-format', '='],
      ['text', 'json', 'merged'],
    ],
    [['shm_exporter', '--server-key', ''], ['']],
    [['shm_bridge', '--log-level', 'd'], ['debug']],
    [['shm_simulator', '--app', ''], BUILT_IN_APPS],
    [['shm_dump', '--object', ''], ['']],
    [['shm_license', 'k'], ['keygen']],
    [['shm_license', 'issue', '--lic'], ['--licensee']],
    [['shm_license', 'verify', '--keys'], ['--keys-dir']],
    [['shm_license', 'verify', 'READ'], ['README.md']],
    [['shm_license', 'verify', '--keys-dir', 'scri'], ['scripts']],
  ] as const;
  it('complete, in zsh and fish, the value of every option that allows only certain words', () => {
    for (const { name, options } of PROGRAMS)
      for (const { flags, choices } of Object.values(options)) {
        if (choices.length === 0) continue;
        const words = choices.join(' ');
        const option = flags.split(' ')[0]?.slice(2) ?? '';
        const zsh = read(`zsh/vendor-completions/_${name}`);
        expect(zsh).to.match(new RegExp(`'--${option}\\[[^']*:\\(${words}\\)'`));
        const fish = read(`fish/vendor_completions.d/${name}.fish`);
        expect(fish).to.include(` -l ${option} -x -a '${words}' -d `);
      }
  });

  it('complete --app with the applications of all catalogues and formats', () =>
    expect(KNOWN_APPS).to.have.members([
      ...BUILT_IN_APPS,
      ...[...FORMATS.values()].flatMap(({ app }) =>
        app === undefined || BUILT_IN_APPS.some((each) => each === app) ? [] : [app],
      ),
    ]));

  for (const [words, answer] of offers)
    it(`complete the words "${words.join(' ')}"`, () =>
      expect(offered(...words)).to.deep.equal(answer));
});

describe('scripts/release/cli.js', () => {
  const refused = [
    [
      ['--only', 'rpm'],
      '--only: found "rpm", allowed: pages, tarball, deb, npm, publisher, python, between commas',
    ],
    [
      ['--version', 'v1'],
      '--version: found "v1", allowed: three numbers, such as 1.2.3 or 1.2.3-rc.1',
    ],
  ] as const;
  for (const [args, sentence] of refused)
    it(`rejects ${args.join(' ')}`, () => {
      const { status, stderr } = spawnSync(process.execPath, ['scripts/release/cli.js', ...args], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).to.deep.equal({ status: 1, stderr: `release: ${sentence}\n` });
    });
});
