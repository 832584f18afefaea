// Tests typical mistakes in configuration files and on command lines, and the messages that correct them.
import { expect } from 'chai';
import { parseArguments } from '#app/config/arguments.js';
import { ConfigProblems } from '#app/config/config-problems.js';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the message for the user', () => {
  const folder = temporaryFolder();

  /** Returns the first line of a file's errors, without the position and the allowed values. */
  function found(toml: string): string {
    const problems = new ConfigProblems();
    const given = { configFile: folder.write('c.toml', toml), overrides: {} };
    planTargets(loadConfig(given, problems), problems);
    const [line = ''] = folder.bare(problems.fault?.message ?? '').split('\n');
    return line.replace(/^c\.toml:\d+:\d+: /, '').replace(/, allowed.*/, '');
  }

  const target = (keys: string) => `[[targets]]\napp = "ads"\nserver_key = "1"\n${keys}`;
  const settings = [
    ['[targets]\napp = "ads"', 'targets: found a table (write [[targets]])'],
    ['[metric_scopes]\nname = "a"', 'metric_scopes: found a table (write [[metric_scopes]])'],
    ['server_keys = "82"', 'server_keys (--server-key): found "82" (write ["82"])'],
    ['server_keys = [82]', 'server_keys[0] (--server-key): found 82 (write "82")'],
    [
      'server_keys = ["/dev/shm/shmApp.pool.82"]',
      'server_keys[0] (--server-key): found "/dev/shm/shmApp.pool.82" (did you mean "82"?)',
    ],
    [
      'server_keys = ["gun-*"]',
      'server_keys[0] (--server-key): found "gun-*" (a name, not a pattern)',
    ],
    ['app = "my-shop"', 'app (--app): found "my-shop" (did you mean "my_shop"?)'],
    ['app = "9"', 'app (--app): found "9"'],
    ['debug = "yes"', 'debug (--debug): found "yes" (write true)'],
    ['debug = 0', 'debug (--debug): found 0 (write false)'],
    ['classes = "process"', 'classes: found "process" (write ["process"])'],
    ['classes = ["Process"]', 'classes[0]: found "Process" (did you mean "process"?)'],
    ['log_level = "warnign"', 'log_level (--log-level): found "warnign" (did you mean "warning"?)'],
    ['log_format = "JSON"', 'log_format (--log-format): found "JSON" (did you mean "json"?)'],
    [
      'stdout_format = "merge"',
      'stdout_format (--stdout-format): found "merge" (did you mean "merged"?)',
    ],
    ['target_worker = 1', 'target_worker: unknown key (did you mean "target_workers"?)'],
    [target('fromat = "native"'), 'targets[0].fromat: unknown key (did you mean "format"?)'],
    [target('format = "nativ"'), 'targets[0].format: found "nativ" (did you mean "native"?)'],
    [
      target('seed_path_groups = ["Health"]'),
      'targets[0].seed_path_groups[0]: found "Health" (did you mean "health"?)',
    ],
    [
      'publisher_time_zone = "Europe/Londn"',
      'publisher_time_zone: found "Europe/Londn" (did you mean "Europe/London"?)',
    ],
    [
      'worker_execution_mode = "thread"',
      'worker_execution_mode: found "thread" (did you mean "threaded"?)',
    ],
  ] as const;
  for (const [toml, message] of settings)
    it(`names the mistake in ${toml.split('\n').join(', ')}`, () =>
      expect(found(toml)).to.equal(message));

  const lines = [
    [
      'c.toml',
      'found "c.toml" (did you mean --config "c.toml"?), allowed: only options; see --help',
    ],
    ['82', 'found "82" (did you mean --server-key "82"?), allowed: only options; see --help'],
    [
      'check-config',
      'found "check-config" (did you mean "--check-config"?), allowed: only options; see --help',
    ],
    ['--chek-config', 'unknown option "--chek-config" (did you mean "--check-config"?)'],
    ['--config', '--config: found nothing, needed: <path>'],
    [
      '--log-format',
      '--log-format (log_format): found nothing, needed: <format>, such as text or logfmt or json',
    ],
    ['--app --debug', '--app (app): found the option "--debug", needed: <app>'],
    [
      '--app my-shop',
      '--app (app): found "my-shop" (did you mean "my_shop"?), allowed: a string of 1 to 64 letters, digits and "_" that starts with a letter',
    ],
  ] as const;
  for (const [line, message] of lines)
    it(`names the mistake in shm_exporter ${line}`, () =>
      expect(faultMessage('USAGE', () => parseArguments(line.split(' '), '1.0.0'))).to.equal(
        message,
      ));
});
