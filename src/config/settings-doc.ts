// Generates docs/configuration.md from the tables of settings and options.
import { SCOPE, TARGET } from './file-rule.js';
import { PROGRAM } from './arguments.js';
import { SETTINGS } from './settings.js';
import type { TableFields } from '../rules/table.js';
import { fieldsToml, optionsMarkdown } from '../rules/table.js';

/** The reference page of the configuration, in Markdown. @param formats the formats of targets, by name */
export function settingsMarkdown(
  formats: Iterable<readonly [name: string, format: { readonly settings: TableFields }]> = [],
): string {
  return [
    '<!-- Generated from src/config/settings.ts; change that table, not this page. -->',
    '# Configuration',
    'Operators need this page to look up a setting or an option of `shm_exporter`.',
    '',
    'A configuration is built from defaults, then the TOML file given with `--config`, then the command line;',
    'later ones win. Environment variables are not read. The file has at most 1 MiB of UTF-8 text.',
    '',
    '## Checks and reloads',
    '',
    '* An invalid configuration is rejected as a whole. One run reports every fault of every file, each in a line with',
    '  file, line, column, key, the value found and the values allowed. For a file that is not TOML, it reports the first',
    '  error only. The exit status follows the first fault: 2 for the configuration, 3 for the license.',
    '* `--check-config` does this and exits. It also warns of settings without effect, misspelt applications, scopes that',
    '  can select nothing, and a license in its grace period. Warnings do not change the exit status.',
    '* `--check-config --live` also reads each segment once. It prints the publisher of every server key, the root that the',
    '  exporter would take, and the size of its tree. It warns of filters, scopes, a `variable`, and catalogue rows that',
    '  match nothing, of variables that a row cannot show or no row reads, and of classes without a row.',
    '* A reload checks the configuration in the same way and ignores an invalid one. It checks the license only if',
    '  `license_file` or `license_keys_dir` changed. A target whose `app`, `format`, `server_keys` and `instance` do not',
    '  change continues through the reload; otherwise it is a new target, whose counters begin at 0.',
    '',
    '## The file',
    '',
    'Every key with its default. The first comment of a key is its meaning, the second its type and allowed values.',
    '',
    '```toml',
    fieldsToml(SETTINGS),
    '# One table for each target, at most 1024. Each may have the keys format, format_settings, instance, variable,',
    '# classes, seed_path_groups, seed_paths, show_uncatalogued, path_labels and publisher_time_zone. With any',
    '# [[targets]], these keys, app and server_keys have no effect at the top level; without, they are the one target.',
    '[[targets]]',
    fieldsToml(
      { app: TARGET.app, serverKey: TARGET.serverKey },
      { app: '"ads"', server_key: '"82"' },
    ),
    '# One table for each scope, at most 256.',
    '[[metric_scopes]]',
    `${fieldsToml(SCOPE, { name: '"clients"', metrics: '["ads_*_num_clients"]' })}\`\`\``,
    '',
    '## Settings of formats',
    '',
    'A format can have settings of its own, in a table below `[[targets]]`; `native` has none.',
    '[formats.md](formats.md) explains them.',
    '',
    ...[...formats].flatMap(([name, { settings }]) =>
      Object.keys(settings).length === 0
        ? []
        : [
            '```toml',
            `format = "${name}"\n`,
            '[targets.format_settings]',
            `${fieldsToml(settings)}\`\`\`\n`,
          ],
    ),
    '## Command-line options',
    optionsMarkdown(PROGRAM),
    '`--help` shows the most common options, `--help-all` and the manual page all of them. An option overrides the',
    'setting beside it. `--once` and `--textfile` also turn `metrics_http_enabled` off. Messages name both, first the',
    'source of the value: `metrics_port (--metrics-port)` for a value of the file, `--metrics-port (metrics_port)` for one',
    'of the command line. `--once` prints when all targets are ready, after `metrics_interval_seconds` at the latest.',
    '',
    '`--healthy` sends a request to the exporter that runs with the same options. It exits with 0 after any HTTP response,',
    'and otherwise with 1 and a reason. With `textfile_dir` it checks that the file was written within three intervals.',
    '',
    '`--targets-config` cannot be used with `--server-key` or `--instance`, which select a single',
    'target. Relative paths on the command line start at the current folder.',
    '',
    '## Legacy target file',
    'A text file given with `--targets-config`. Each line is `target` and then the keys of `[[targets]]`',
    'as `key=value`. A value with blanks stands in double quotes, where `\\"` and `\\\\` are a quote and',
    'a backslash; items of lists are separated by commas. Blank lines, and comments after a `#` at the',
    'start of a line or after a blank, are ignored.',
    '',
    '```',
    '# the two feeds of this host',
    'target app=ads server_key=82 classes=process,server',
    'target app=adh server_key=456 instance=1 seed_paths="@root,sink.server"',
    '```',
    '',
  ].join('\n');
}
