// Tests the command line ("Command-line options" of the specification).
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES, parseArguments } from '#app/config/arguments.js';
import { OPTIONS } from '#app/config/options.js';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { faultMessage } from '../support/fault-message.js';

const NAME = 'a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."';

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
    [['--log-level', 'warning'], { overrides: { logLevel: 'warning' } }],
    [['--log-format', 'logfmt'], { overrides: { logFormat: 'logfmt' } }],
    [['--web.config.file', 'w.yml'], { overrides: { webConfigFile: 'w.yml' } }],
    [['--web.telemetry-path', '/m'], { overrides: { metricsPath: '/m' } }],
    [['--web.max-requests', '40'], { overrides: { httpMaxScrapes: 40 } }],
    [['--web.max-requests=0'], { overrides: { httpMaxScrapes: 65_535 } }],
    [['--web.disable-exporter-metrics'], { overrides: { pagesWithoutInternalMetrics: true } }],
    [['--log.level', 'warn'], { overrides: { logLevel: 'warning' } }],
    [['--log.level=debug'], { overrides: { logLevel: 'debug' } }],
    [['--log.format', 'json'], { overrides: { logFormat: 'json' } }],
    [['--web.systemd-socket'], { overrides: { metricsSystemdSocket: true } }],
    [
      ['--web.listen-address', '[::1]:0', '--web.listen-address=:1'],
      { overrides: { metricsListenAddresses: ['[::1]:0', ':1'] } },
    ],
    [['--stdout-format', 'merged'], { overrides: { stdoutFormat: 'merged' } }],
    [['--textfile', 'd'], { overrides: { textfileDir: 'd', metricsHttpEnabled: false } }],
    [['--once'], { overrides: { metricsHttpEnabled: false } }],
  ];
  for (const [argv, wanted] of table)
    it(`reads ${JSON.stringify(argv)}`, () =>
      expect(parse(...argv)).to.deep.include({
        kind: 'run',
        arguments: { configFile: undefined, targetsFile: undefined, overrides: {}, ...wanted },
      }));

  it('selects one snapshot with --once', () => {
    expect(parse()).to.include({ kind: 'run', isOnce: false });
    expect(parse('--once')).to.include({ kind: 'run', isOnce: true });
  });

  it('selects a check with --check-config, and a check of the segments with --live', () => {
    const checks = (...argv: string[]) => parse('--check-config', '--config', 'c', ...argv);
    expect(checks()).to.include({ kind: 'check', isLive: false });
    expect(checks('--live')).to.include({ kind: 'check', isLive: true });
  });

  it('prints the version with --version (spec 9.1)', () =>
    expect(parse('--version')).to.deep.equal({ kind: 'print', text: '1.2.3\n' }));

  it('lists with --help-all every option, the exit statuses, and the files that document them', () => {
    const help = parse('--help-all');
    if (help.kind !== 'print') throw new Error('--help-all prints nothing');
    const words = help.text.replace(/\s+/g, ' ');
    for (const { flags, meaning } of Object.values(OPTIONS))
      expect(words).to.include(`${flags} ${meaning}`);
    expect(words).to.include('--version').and.include('--help');
    expect(words).to.include('Set the application metric set (default: ads)');
    expect(words).to.include('clears TOML targets (default: 82, 456, 999)');
    expect(words).to.include('Port of the HTTP listener (default: 9464)');
    expect(help.text).to.match(
      /\n {2}4 {2}cannot listen, use shared memory or write the output of --once\n/,
    );
    for (const file of ['README.md', 'docs/configuration.md', 'examples/shm_exporter.toml']) {
      expect(words).to.include(file);
      expect(existsSync(file), file).to.equal(true);
    }
  });

  for (const [purpose, line] of EXAMPLES.filter(([, each]) => !each.startsWith('shm_license ')))
    it(`shows with --help a command line that works: ${purpose}`, () => {
      const [program, ...argv] = line.split(' ');
      expect(program).to.equal('shm_exporter');
      const invocation = parse(...argv);
      if (invocation.kind === 'print') throw new Error('the example only prints');
      const { configFile, ...given } = invocation.arguments;
      const beside = configFile === undefined ? undefined : join('examples', configFile);
      const config = loadConfig({ ...given, configFile: beside });
      expect(config.warnings).to.deep.equal([]);
      expect(planTargets(config)).to.have.lengthOf(1);
      const asked = { isHttp: config.settings.metricsHttpEnabled, kind: invocation.kind };
      expect(asked).to.deep.equal({
        isHttp: purpose.startsWith('Serve'),
        kind: purpose.startsWith('Check') ? 'check' : 'run',
      });
    });

  const refused: readonly (readonly [argv: readonly string[], message: string])[] = [
    [['--server-kye', '1'], 'unknown option "--server-kye" (did you mean "--server-key"?)'],
    [['--verson'], 'unknown option "--verson" (did you mean "--version"?)'],
    [['--metrics-prt=1'], 'unknown option "--metrics-prt=1" (did you mean "--metrics-port"?)'],
    [['--port', '9'], 'unknown option "--port" (did you mean "--metrics-port"?)'],
    [['--colour'], 'unknown option "--colour"; see --help'],
    [['-h'], 'unknown option "-h"; see --help'],
    [["--it's\n'x'"], "unknown option \"--it's\\n'x'\"; see --help"],
    [['--debug=1=2'], '--debug (debug): found "1=2", allowed: no argument'],
    [['--debug='], '--debug (debug): found "", allowed: no argument'],
    [['--live'], '--live needs --check-config'],
    [['--server-key'], '--server-key (server_keys): found nothing, needed: <key>'],
    [['--debug', '--config'], '--config: found nothing, needed: <path>'],
    [[''], 'found "", allowed: only options; see --help'],
    [['--server-key='], `--server-key (server_keys): found "", allowed: ${NAME}`],
    [
      ['--metrics-port='],
      '--metrics-port (metrics_port): found "", allowed: an integer from 0 to 65535',
    ],
    [
      ['--metrics-port=-1'],
      '--metrics-port (metrics_port): found -1, allowed: an integer from 0 to 65535',
    ],
    [
      ['--app='],
      '--app (app): found "", allowed: a string of 1 to 64 letters, digits and "_" that starts with a letter',
    ],
    [
      ['--license-file='],
      '--license-file (license_file): found "", allowed: a string of 1 to 1024 characters in one line',
    ],
    [
      ['--instance', 'two\nlines'],
      '--instance (instance): found "two\\nlines", allowed: a string of at most 1024 characters in one line',
    ],
    [
      ['--server-key', '--debug'],
      '--server-key (server_keys): found the option "--debug", needed: <key>',
    ],
    [['82'], 'found "82" (did you mean --server-key "82"?), allowed: only options; see --help'],
    [
      ['--metrics-port', '65536'],
      '--metrics-port (metrics_port): found 65536, allowed: an integer from 0 to 65535',
    ],
    [
      ['--web.max-requests', '-1'],
      '--web.max-requests (http_max_scrapes): found -1, allowed: an integer from 0 to 65535',
    ],
    [
      ['--log.level', 'wran'],
      '--log.level: found "wran", allowed: "debug" or "info" or "warning" or "error"',
    ],
    [['--log.level', 'info', '--log-level', 'info'], '--log.level cannot be used with --log-level'],
    [
      ['--metrics-port', '9464.0'],
      '--metrics-port (metrics_port): found "9464.0", allowed: an integer from 0 to 65535',
    ],
    [
      ['--app', 'a-b'],
      '--app (app): found "a-b" (did you mean "a_b"?), allowed: a string of 1 to 64 letters, digits and "_" that starts with a letter',
    ],
    [['--config', ''], '--config: found "", allowed: a string of 1 to 1024 characters in one line'],
    [
      ['--targets-config', 't', '--server-key', '82'],
      '--targets-config cannot be used with --server-key',
    ],
    [
      ['--instance', '1', '--targets-config', 't'],
      '--targets-config cannot be used with --instance',
    ],
    [['--once', '--enable-metrics-http'], '--once cannot be used with --enable-metrics-http'],
    [
      ['--textfile', 'd', '--enable-metrics-http'],
      '--textfile cannot be used with --enable-metrics-http',
    ],
  ];
  for (const [argv, message] of refused)
    it(`rejects ${JSON.stringify(argv)}`, () =>
      expect(faultMessage('USAGE', () => parse(...argv))).to.equal(message));
});
