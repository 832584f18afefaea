// Generates docs/configuration.md from the tables of settings and options.
import { SCOPE, TARGET } from './file-rule.js';
import { PROGRAM } from './arguments.js';
import { SETTINGS, isReloaded } from './settings.js';
import type { TableFields } from '../rules/table.js';
import { TYPE_LEGEND, fieldsMarkdown, optionsMarkdown } from '../rules/table.js';

/** The top-level keys that a reload applies. Some of them are also keys of targets. */
const reloadedKeys = new Set(
  Object.entries(SETTINGS)
    .filter(([name]) => isReloaded(name))
    .map(([, { key }]) => key),
);

/** The optional keys of a target, with links to their sections. */
const optionalKeys = Object.values(TARGET)
  .filter(({ fallback }) => fallback !== undefined)
  .map(({ key }) => `[${key}](#${key})`)
  .join(', ');

/** The reference page of the configuration, in Markdown. @param formats the formats of targets, by name */
export function settingsMarkdown(
  formats: Iterable<readonly [name: string, format: { readonly settings: TableFields }]> = [],
): string {
  return [
    '<!-- Generated from src/config/settings.ts; change that table, not this page. -->',
    '# Configuration',
    '',
    'Use this page to look up a setting or an option of `shm_exporter`. Settings are in a TOML file of at most 1 MiB in',
    'UTF-8, which `--config` names. Options override the file. No setting comes from an environment variable.',
    '[examples/shm_exporter.toml](../examples/shm_exporter.toml) is a file to start from.',
    '',
    '## Checks and reloads',
    '',
    '* The exporter rejects an invalid configuration as a whole. One run reports every fault of every file, with file, line,',
    '  column, key, value and allowed values. Of a file that is not valid TOML, it reports only the first error.',
    '* `--check-config` checks and exits. It also warns of settings without effect, misspelt applications, scopes that',
    '  can select nothing, [labels of the scraper](http.md#labels-of-the-scraper), and a license in its grace period.',
    '  Warnings do not change the [exit status](programs.md#exit-statuses).',
    '* `--check-config --live` also reads each segment once. It prints the publisher of every server key, the root that the',
    '  exporter would select, and the size of its tree. It warns if a filter, a scope, a catalogue row or the setting',
    '  `variable` matches nothing. It also warns of variables that no row reads or can show, and of classes without a row. For a',
    '  built-in catalogue, it only counts the variables that no row reads.',
    '* A reload ignores an invalid configuration. It checks the license only if `license_file` or `license_keys_dir` changed.',
    '* A reload applies `[[targets]]`, `[[metric_scopes]]` and the settings marked below. Other changes need a restart.',
    '  A target continues if its `app`, `format`, `server_keys` and `instance` do not change; otherwise its counters restart at 0.',
    '',
    '## Settings',
    '',
    'The exporter resolves relative paths from the folder of the file.',
    '',
    TYPE_LEGEND,
    fieldsMarkdown(SETTINGS, (key) => (reloadedKeys.has(key) ? 'A reload applies it.' : '')),
    '## Targets',
    '',
    'The file has a table for each target, at most 1024:',
    '',
    '```toml',
    '[[targets]]',
    'app = "ads"        # application of the target',
    'server_key = "82"  # server key of the publisher',
    '```',
    '',
    `\`app\` and \`server_key\` are required. A table may also have ${optionalKeys}.`,
    'If the file has `[[targets]]`, the exporter ignores `app`, `server_keys` and these optional keys at the top level.',
    '',
    '## Scopes',
    '',
    'The file has a table for each [scope](http.md#scopes), at most 256:',
    '',
    '```toml',
    '[[metric_scopes]]',
    'name = "clients"',
    'metrics = ["ads_*_num_clients"]',
    '```',
    '',
    fieldsMarkdown(SCOPE),
    '## Settings of formats',
    '',
    '`format_settings` is a table below `[[targets]]`. Its keys depend on the format; [formats.md](formats.md) explains them.',
    '',
    '```toml',
    '[[targets]]',
    'app = "jvm"',
    'server_key = "jvm"',
    'format = "hsperfdata"',
    '',
    '[targets.format_settings]',
    'users = ["kafka"]',
    '```',
    '',
    ...[...formats].flatMap(([name, { settings }]) =>
      Object.keys(settings).length === 0
        ? []
        : [`Keys of \`format = "${name}"\`:\n`, fieldsMarkdown(settings)],
    ),
    '## Command-line options',
    '',
    optionsMarkdown(PROGRAM),
    'Messages name the setting and its option: `metrics_port (--metrics-port)` if the value is from the file, and',
    '`--metrics-port (metrics_port)` if it is from the command line. The exporter resolves relative paths of options from',
    'the current folder.',
    '',
    '* `--server-key` and `--instance` select a single target instead of the TOML targets. They cannot be used with',
    '  `--targets-config`.',
    '* `--web.listen-address` may be repeated.',
    '* `--once` and `--textfile` turn `metrics_http_enabled` off. `--once` prints when all targets are ready, or after',
    '  `metrics_interval_seconds`.',
    '* `--healthy` sends a request to the exporter that runs with the same options. It exits with 0 after any response, else',
    '  with 1 and a reason. With `textfile_dir`, it checks that the file was written within three intervals.',
    '',
    '## Legacy target file',
    '',
    'Each line of the file of `--targets-config` is the word `target`, then keys of `[[targets]]` as `key=value`. Commas',
    'separate list items. Enclose a value with blanks in double quotes; in them, write `\\"` for a quote and `\\\\` for a',
    'backslash. Blank lines and comments are allowed. A comment begins with `#`, at the start of a line or after a blank.',
    '',
    '```',
    '# the two targets on this host',
    'target app=ads server_key=82 classes=process,server',
    'target app=adh server_key=456 instance=1 seed_paths="@root,sink.server"',
    '```',
    '',
  ].join('\n');
}
