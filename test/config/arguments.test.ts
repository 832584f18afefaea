// The command line ("Command-line options" of the specification).
import { expect } from 'chai';
import { parseArguments } from '#app/config/arguments.js';
import { OPTIONS } from '#app/config/options.js';
import { faultMessage } from '../support/fault-message.js';

const parse = (...argv: string[]) => parseArguments(argv, '1.2.3');

describe('parseArguments', () => {
  const table: readonly (readonly [argv: readonly string[], wanted: object])[] = [
    [[], { configFile: undefined, targetsFile: undefined, overrides: {} }],
    [['--config', 'c.toml'], { configFile: 'c.toml' }],
    [['--app', 'adh'], { overrides: { app: 'adh' } }],
    [['--server-key', '82'], { overrides: { serverKeys: ['82'] } }],
    [['--server-key=82'], { overrides: { serverKeys: ['82'] } }],
    [['--server-key', '82', '--server-key', '83'], { overrides: { serverKeys: ['83'] } }],
    [['--instance', 'h.1.ads'], { overrides: { instance: 'h.1.ads' } }],
    [['--instance', ''], { overrides: { instance: '' } }],
    [['--enable-metrics-http'], { overrides: { metricsHttpEnabled: true } }],
    [['--metrics-port', '0'], { overrides: { metricsPort: 0 } }],
    [['--debug'], { overrides: { debug: true } }],
    [['--targets-config', 't.txt'], { targetsFile: 't.txt' }],
    [['--license-file', 'l.json'], { overrides: { licenseFile: 'l.json' } }],
  ];
  for (const [argv, wanted] of table)
    it(`reads ${JSON.stringify(argv)}`, () =>
      expect(parse(...argv)).to.deep.include({
        kind: 'run',
        arguments: { configFile: undefined, targetsFile: undefined, overrides: {}, ...wanted },
      }));

  it('asks for a check with --check-config', () =>
    expect(parse('--check-config', '--config', 'c').kind).to.equal('check'));

  it('--version prints the binary version (spec 9.1)', () =>
    expect(parse('--version')).to.deep.equal({ kind: 'print', text: '1.2.3\n' }));

  it('--help names every option and its effect, and ends with the exit statuses', () => {
    const help = parse('--help');
    if (help.kind !== 'print') throw new Error('--help prints nothing');
    const words = help.text.replace(/\s+/g, ' ');
    for (const { flags, meaning } of OPTIONS) expect(words).to.include(`${flags} ${meaning}`);
    expect(words).to.include('--version').and.include('--help');
    expect(help.text).to.match(/\n {2}4 {2}listener or shared memory cannot be used\n$/);
    for (const line of help.text.split('\n')) expect(line.length, line).to.be.at.most(80);
  });

  const refused: readonly (readonly [argv: readonly string[], message: string])[] = [
    [['--server-kye', '1'], "unknown option '--server-kye'\n(Did you mean --server-key?)"],
    [['--debug=1'], "unknown option '--debug=1'\n(Did you mean --debug?)"],
    [['--server-key'], "option '--server-key <key>' argument missing"],
    [['--server-key', '--debug'], '--server-key: found the option "--debug" for its argument'],
    [['82'], 'found "82", allowed are only options; see --help'],
    [
      ['--metrics-port', '65536'],
      '--metrics-port: found 65536, allowed is an integer from 0 to 65535',
    ],
    [
      ['--metrics-port', '9464.0'],
      '--metrics-port: found "9464.0", allowed is an integer from 0 to 65535',
    ],
    [
      ['--app', 'a-b'],
      '--app: found "a-b", allowed is a string of 1 to 64 letters, digits and "_" that starts with a letter',
    ],
    [
      ['--config', ''],
      '--config: found "", allowed is a string of 1 to 1024 characters in one line',
    ],
    [
      ['--targets-config', 't', '--server-key', '82'],
      "option '--targets-config <path>' cannot be used with option '--server-key <key>'",
    ],
    [
      ['--instance', '1', '--targets-config', 't'],
      "option '--targets-config <path>' cannot be used with option '--instance <hint>'",
    ],
  ];
  for (const [argv, message] of refused)
    it(`refuses ${JSON.stringify(argv)}`, () =>
      expect(faultMessage('USAGE', () => parse(...argv))).to.equal(message));
});
