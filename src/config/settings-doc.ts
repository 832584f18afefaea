// Writes docs/configuration.md from the tables that the loader itself reads.
import { SCOPE, TARGET } from './file-rule.js';
import { PROGRAM } from './arguments.js';
import { SETTINGS } from './settings.js';
import type { TableFields } from '../rules/table.js';
import { fieldsMarkdown, optionsMarkdown } from '../rules/table.js';

/**
 * The whole reference page of the configuration, as Markdown.
 * @param formats those that a target may have, by name
 */
export function settingsMarkdown(
  formats: Iterable<readonly [name: string, format: { readonly settings: TableFields }]> = [],
): string {
  return [
    '<!-- Generated from src/config/settings.ts; change that table, not this page. -->',
    '# Configuration',
    'A configuration is built from defaults, then the TOML file given with `--config`, then the',
    'command line; later ones win. Environment variables are not read. The file is a regular',
    'file of at most 1 MiB of UTF-8 text. `examples/shm_exporter.toml` shows every key.',
    '',
    'An invalid configuration is rejected as a whole. One run reports every fault of every file, each in a line of its',
    'own with file, line, column, key, what was found and what is allowed: values, classes, groups and seed paths of all',
    'targets, catalogues, the targets file, and the license. Of a file that is not TOML, only the first error is reported.',
    'A target or scope that has a fault is compared with the others, for repeats, only once the fault is mended.',
    'The exit status follows the first fault: 2 for the configuration, 3 for the license.',
    '',
    '`--check-config` does this and exits, with 0 if a start would be accepted now. It also prints warnings: settings',
    'without effect, an application that is nearly a known one, scopes that can select nothing, a license in its grace',
    'period. They do not change the exit status.',
    '',
    '`--check-config --live` also reads each segment that the targets name once. For each target it prints what every',
    'server key shows, the root that the exporter would take, and how much of the tree it would track. It warns of',
    'classes, groups, seed paths, a `variable` and metric scopes that match nothing in the tree as it is now, of rows of',
    'the catalogue whose variable no object has (with the nearest name), of variables that a row cannot show, and of',
    'variables that no row reads, unless they are shown as well. While there are objects that no row is for, it counts',
    'them, names up to three of their classes, each with the path of one object, and warns of the classes of the',
    'catalogue that no object fits. Missing objects may appear later, so none of this changes the exit status.',
    '',
    'A reload checks the configuration in the same way; an invalid one is reported and',
    'ignored. It checks the license only if `license_file` or `license_keys_dir` changed. A target whose `app`, `format`,',
    '`server_keys` and `instance` do not change continues through the reload. If one of them changes, it is a new target:',
    'its scrapes get 503 until it is ready, and its counters begin at 0.',
    '',
    '## Top-level keys',
    fieldsMarkdown(SETTINGS),
    '## `[[targets]]`',
    'One table a target, at most 1024. With at least one, the exporter runs in multi-target mode: the',
    'keys `app`, `format`, `format_settings`, `instance`, `variable`, `classes`, `seed_path_groups`, `seed_paths`,',
    '`show_uncatalogued`, `path_labels`, `publisher_time_zone` and `server_keys` of the top level then have no',
    'effect. Without any, these keys describe the single target.',
    '',
    fieldsMarkdown(TARGET),
    '## Settings of formats',
    'A target gives the settings that its format has of its own in `format_settings`, a table; `native` has none.',
    '[formats.md](formats.md) explains them.',
    '',
    ...[...formats].flatMap(([name, { settings }]) =>
      Object.keys(settings).length === 0
        ? []
        : [`### \`format = "${name}"\``, fieldsMarkdown(settings)],
    ),
    '## `[[metric_scopes]]`',
    'One table a scope, at most 256.',
    '',
    fieldsMarkdown(SCOPE),
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
