// Generates docs/configuration.md from the tables of settings and options.
import { SCOPE, TARGET } from './file-rule.js';
import { PROGRAM } from './arguments.js';
import { SETTINGS, isReloaded } from './settings.js';
import type { TableFields } from '../rules/table.js';
import { TYPE_LEGEND, fieldsToml, optionsMarkdown } from '../rules/table.js';

/** The top-level keys that a reload applies, without those of targets. */
const reloadedKeys = (): string =>
  Object.entries(SETTINGS)
    .filter(([name]) => isReloaded(name) && name !== 'serverKeys' && !(name in TARGET))
    .map(([, { key }]) => `\`${key}\``)
    .join(', ');

/** The reference page of the configuration, in Markdown. @param formats the formats of targets, by name */
export function settingsMarkdown(
  formats: Iterable<readonly [name: string, format: { readonly settings: TableFields }]> = [],
): string {
  return [
    '<!-- Generated from src/config/settings.ts; change that table, not this page. -->',
    '# Configuration',
    'Operators need this page to look up a setting or an option of `shm_exporter`. The TOML file given',
    'with `--config` (at most 1 MiB of UTF-8) overrides the defaults; options override the file. Environment variables are not read.',
    '',
    '## Checks and reloads',
    '',
    '* An invalid configuration is rejected as a whole. One run reports every fault of every file, with file, line, column,',
    '  key, value and allowed values; of a file that is not TOML, only the first error.',
    '* `--check-config` checks and exits. It also warns of settings without effect, misspelt applications, scopes that',
    '  can select nothing, [labels of the scraper](http.md#labels-of-the-scraper), and a license in its grace period.',
    '  Warnings do not change the exit status.',
    '* `--check-config --live` also reads each segment once. It prints the publisher of every server key, the root that the',
    '  exporter would select, and the size of its tree. It warns of filters, scopes, catalogue rows and a `variable` that',
    '  match nothing, of variables that no row reads or can show, and of classes without a row. It only counts the',
    '  variables that no row of a built-in catalogue reads.',
    '* A reload ignores an invalid configuration. It checks the license only if `license_file` or `license_keys_dir` changed.',
    `  It applies targets with all their keys, scopes, and these keys: ${reloadedKeys()}.`,
    '  A change of another key needs a restart.',
    '  A target continues if its `app`, `format`, `server_keys` and `instance` do not change; otherwise its counters restart at 0.',
    '',
    '## The file',
    '',
    'Every key with its default. The first comment of a key is its meaning, the second its type and allowed values.',
    'Relative paths start at the folder of the file.',
    TYPE_LEGEND,
    '',
    '```toml',
    fieldsToml(SETTINGS),
    '# One table for each target, at most 1024. It may also have the keys format, format_settings, instance, variable,',
    '# classes, seed_path_groups, seed_paths, show_uncatalogued, path_labels and publisher_time_zone. With any',
    '# [[targets]], these keys, app and server_keys have no effect at the top level.',
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
    'A table below `[[targets]]`, explained in [formats.md](formats.md).',
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
    'Messages name the setting and its option: `metrics_port (--metrics-port)` if the value is from the file, and',
    '`--metrics-port (metrics_port)` if it is from the command line. Relative paths of options start at the current folder.',
    '',
    '* `--server-key` and `--instance` select a single target instead of the TOML targets, and forbid `--targets-config`.',
    '* `--web.listen-address` may be repeated.',
    '* `--once` and `--textfile` turn `metrics_http_enabled` off. `--once` prints when all targets are ready, after',
    '  `metrics_interval_seconds` at the latest.',
    '* `--healthy` sends a request to the exporter that runs with the same options. It exits with 0 after any response, else',
    '  with 1 and a reason. With `textfile_dir`, it checks that the file was written within three intervals.',
    '',
    '## Legacy target file',
    'The file of `--targets-config` has lines of `target` and the keys of `[[targets]]` as `key=value`. Double quotes enclose',
    'a value with blanks; in them, `\\"` and `\\\\` are a quote and a backslash. Commas separate list items. Blank lines',
    'are ignored, and so are comments: from a `#` at the start of a line or after a blank.',
    '',
    '```',
    '# the two feeds of this host',
    'target app=ads server_key=82 classes=process,server',
    'target app=adh server_key=456 instance=1 seed_paths="@root,sink.server"',
    '```',
    '',
  ].join('\n');
}
