// Tests the command line of the bridge.
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { parseArguments } from '#app/bridge/settings/configuration.js';
import { OPTIONS } from '#app/bridge/settings/options.js';
import { faultMessage } from '../../support/fault-message.js';

const parse = (...argv: string[]) => parseArguments(argv, '1.2.3');
const helpText = () => {
  const help = parse('--help');
  if (help.kind !== 'print') throw new Error('--help prints nothing');
  return help.text;
};

describe('The option parser of the bridge', () => {
  const plain = { kind: 'run', file: 'c.toml', component: undefined, log: {} };
  const table: readonly (readonly [argv: readonly string[], wanted: object])[] = [
    [['--config', 'c.toml'], plain],
    [['--config=c.toml'], plain],
    [['--config', 'b.toml', '--config', 'c.toml'], plain],
    [['--config=-c.toml'], { ...plain, file: '-c.toml' }],
    [['--config', 'c.toml', '--debug'], { ...plain, log: { logLevel: 'debug' } }],
    [
      ['--config', 'c.toml', '--log-level', 'warning', '--log-format', 'json'],
      { ...plain, log: { logLevel: 'warning', logFormat: 'json' } },
    ],
    [['--check-config', '--config', 'c.toml'], { ...plain, kind: 'check' }],
    [['--once', '--config', 'c.toml'], { ...plain, kind: 'once' }],
    [['--config', 'c.toml', '--component', 'ads'], { ...plain, component: 'ads' }],
    [
      ['--config', 'c.toml', '--once', '--component', 'ads'],
      { ...plain, kind: 'once', component: 'ads' },
    ],
  ];
  for (const [argv, wanted] of table)
    it(`accepts "${argv.join(' ')}"`, () => expect(parse(...argv)).to.deep.equal(wanted));

  it('prints the version for --version', () =>
    expect(parse('--version')).to.deep.equal({ kind: 'print', text: '1.2.3\n' }));

  it('prints every option and its effect, the exit statuses and the documentation for --help', () => {
    const words = helpText().replace(/\s+/g, ' ');
    for (const { flags, meaning } of Object.values(OPTIONS))
      expect(words).to.include(`${flags} ${meaning}`);
    expect(words).to.include('--version').and.include('--help');
    expect(helpText()).to.match(/\n {2}4 {2}shared memory cannot be used\n/);
    for (const file of ['docs/bridge.md', 'docs/bridge-configuration.md']) {
      expect(words).to.include(file);
      expect(existsSync(file), file).to.equal(true);
    }
    for (const line of helpText().split('\n')) expect(line.length, line).to.be.at.most(80);
  });

  it('prints valid example command lines for --help', () => {
    const lines = [...helpText().matchAll(/^ {4}shm_bridge (.+?)( > \S+)?$/gm)];
    const kinds = lines.map(([, line = '']) => parse(...line.split(' ')).kind);
    expect(kinds).to.deep.equal(['check', 'once', 'run']);
  });

  const refused: readonly (readonly [argv: readonly string[], message: string])[] = [
    [[], '--config: found nothing, needed: --config <path>'],
    [['--check-config'], '--config: found nothing, needed: --config <path>'],
    [['--config='], '--config: found "", allowed: a string of 1 to 1024 characters in one line'],
    [['--config'], '--config: found nothing, needed: <path>'],
    [['--config', '--once'], '--config: found the option "--once", needed: <path>'],
    [
      ['--config', 'c', '--component', '--once'],
      '--component: found the option "--once", needed: <name>',
    ],
    [['--conf', 'c'], 'unknown option "--conf" (did you mean "--config"?)'],
    [['--ones', '--config', 'c'], 'unknown option "--ones" (did you mean "--once"?)'],
    [['--app', 'ads'], 'unknown option "--app"; see --help'],
    [['-h'], 'unknown option "-h"; see --help'],
    [['--once=1', '--config', 'c'], '--once: found "1", allowed: no argument'],
    [
      ['c.toml'],
      'found "c.toml" (did you mean --config "c.toml"?), allowed: only options; see --help',
    ],
    [['--config', 'c', 'd'], 'found "d", allowed: only options; see --help'],
    [['--once', '--check-config', '--config', 'c'], '--check-config cannot be used with --once'],
  ];
  for (const [argv, message] of refused)
    it(`refuses ${argv.length === 0 ? 'an empty command line' : JSON.stringify(argv)}`, () =>
      expect(faultMessage('USAGE', () => parse(...argv))).to.equal(message));
});
