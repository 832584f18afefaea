// Tests that messages at the start name both the option and the setting: first the one that set the value.
import { expect } from 'chai';
import { parseArguments } from '#app/config/arguments.js';
import { OPTIONS } from '#app/config/options.js';
import { checkStart } from '#app/exporter/check-start.js';
import { nameInMessages, nameOf } from '#app/rules/command-option.js';
import { signedLicense } from '../license/signed-license.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const IN_GRACE = new Date('2026-02-01T10:00:00Z');

describe('a message at the start', () => {
  const folder = temporaryFolder();

  /** Returns all messages of a start: the warnings, then the reasons why it is rejected. */
  function said(toml: string, ...argv: readonly string[]): string[] {
    folder.write('license.json', signedLicense());
    const configFile = folder.write('c.toml', toml);
    const invocation = parseArguments(['--config', configFile, ...argv], '1');
    if (invocation.kind === 'print') throw new Error('the arguments only print');
    const start = checkStart(invocation.arguments, IN_GRACE);
    const faults = start.kind === 'refused' ? start.faults : [];
    return [...start.warnings, ...faults.map(({ message }) => message)]
      .flatMap((text) => folder.bare(text).split('\n'))
      .filter((line) => !line.includes('No license file'));
  }

  const overriding = Object.values(OPTIONS).filter(({ setting }) => setting !== undefined);

  for (const option of overriding)
    it(`names ${nameOf(option)} if the file has a wrong value for ${option.setting ?? ''}`, () => {
      const [line] = said(`${option.setting ?? ''} = {}\n`);
      expect(line).to.match(/^c\.toml:1:\d+: /);
      expect(line).to.include(`: ${option.setting ?? ''} (${nameOf(option)}): found a table, `);
    });

  for (const option of overriding)
    it(`names ${option.setting ?? ''} if ${nameOf(option)} has a wrong argument`, () => {
      const wrong = `${nameOf(option)}=two\nlines`;
      const message = faultMessage('USAGE', () => parseArguments([wrong], '1'));
      const setting = ` (${option.setting ?? ''})`;
      expect(nameInMessages(option)).to.equal(`${nameOf(option)}${setting}`);
      expect(message.startsWith(nameOf(option)), message).to.equal(true);
      expect(message).to.include(`${setting}: found "two\\nlines"`);
      expect(message).to.match(/"( \(did you mean "two_lines"\?\))?, allowed: /);
    });

  const personal = 'listen only on 127.0.0.1 with';
  const table: readonly (readonly [toml: string, argv: string, head: string, part?: string])[] = [
    [
      'license_file = "l.json"',
      '',
      'c.toml:1:16: license_file (--license-file): License file l.json ',
    ],
    ['', '--license-file l.json', '--license-file (license_file): License file l.json '],
    [
      'web_config_file = "w.yml"',
      '',
      'c.toml:1:19: web_config_file (--web.config.file): w.yml: cannot be read',
    ],
    [
      '',
      '--enable-metrics-http --web.config.file w.yml',
      '--web.config.file (web_config_file): w.yml: cannot be read',
    ],
    ['app = "adss"', '', 'c.toml:1:7: app (--app): adss has no catalogue'],
    ['app = "ads"', '--app adss', '--app (app): adss has no catalogue'],
    ['', '--app adss', '--app (app): adss has no catalogue'],
    [
      'app = "ads"\n[[targets]]\napp = "adh"\nserver_key = "1"',
      '',
      'c.toml:1:1: app (--app) is ignored because of [[targets]]',
    ],
    [
      'instance = "a"\n[[targets]]\napp = "adh"\nserver_key = "1"',
      '',
      'c.toml:1:1: instance (--instance) is ignored because of [[targets]]',
    ],
    [
      '[[targets]]\napp = "adh"\nserver_key = "1"',
      '--app adh',
      '--app (app) is ignored because of [[targets]]',
    ],
    [
      'textfile_dir = "d"\nmetrics_http_enabled = true',
      '',
      'c.toml:1:1: textfile_dir (--textfile) has no effect while metrics_http_enabled (--enable-metrics-http) is true',
    ],
    [
      '',
      '--metrics-port 1',
      '--metrics-port (metrics_port) has no effect while metrics_http_enabled (--enable-metrics-http) is false',
    ],
    [
      '[[targets]]\napp = "adh"\nserver_key = "1"',
      '--server-key 1 --app ads',
      'c.toml:1:1: [[targets]] are ignored because of --server-key (server_keys); ',
      'the application ads, from --app (app)',
    ],
    [
      'metrics_http_enabled = true',
      '',
      'ads_mount_info: personal data',
      `${personal} metrics_listen_addresses (--web.listen-address), or require passwords with web_config_file (--web.config.file)`,
    ],
    [
      'metrics_http_enabled = true',
      '--web.listen-address :1',
      'ads_mount_info: personal data',
      `${personal} --web.listen-address (metrics_listen_addresses),`,
    ],
  ];
  for (const [toml, argv, head, part = ''] of table) {
    const beside = toml !== '' && argv !== '' ? ', for an option beside a file' : '';
    it(`names both the setting and the option${beside}: "${part || head.trim()}"`, () => {
      const [line = ''] = said(toml, ...argv.split(' ').filter(Boolean)).filter((each) =>
        each.startsWith(head),
      );
      expect(line, said(toml, ...argv.split(' ').filter(Boolean)).join('\n')).to.include(head);
      expect(line).to.include(part);
    });
  }
});
