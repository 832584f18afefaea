// Writes docs/configuration.md from the tables that the loader itself reads.
import { SCOPE, TARGET } from './file-rule.js';
import { OPTIONS } from './options.js';
import { SETTINGS } from './settings.js';
import { fieldsMarkdown, markdownTable, plain } from '../rules/fields-markdown.js';

/** The whole reference page of the configuration, as Markdown. */
export function settingsMarkdown(): string {
  return [
    '<!-- Generated from src/config/settings.ts; change that table, not this page. -->',
    '# Configuration',
    'A configuration is built from defaults, then the TOML file given with `--config`, then the',
    'command line; what comes later wins. Environment variables play no part. The file is a regular',
    'file of at most 1 MiB of UTF-8 text. A file with faults is refused as a whole (exit status 2): every fault is told',
    'in a line of its own with file, line, column, key, what was found and what is allowed, and',
    '`--check-config` does nothing but that, and warns of a license that a start would refuse.',
    '`examples/shm_exporter.toml` shows every key.',
    '',
    '## Top-level keys',
    fieldsMarkdown(SETTINGS),
    '## `[[targets]]`',
    'One table a target, at most 1024. With at least one, the exporter runs in multi-target mode: the',
    'keys `app`, `instance`, `variable`, `classes`, `seed_path_groups`, `seed_paths`,',
    '`publisher_time_zone` and `server_keys` of the top level then have no effect. Without any, these',
    'keys describe the single target.',
    '',
    fieldsMarkdown(TARGET),
    '## `[[metric_scopes]]`',
    'One table a scope, at most 256.',
    '',
    fieldsMarkdown(SCOPE),
    '## Command-line options',
    optionTable(),
    '`--targets-config` cannot stand beside `--server-key` or `--instance`, which select a single',
    'target. Relative paths on the command line start at the current folder.',
    '',
    '## Legacy target file',
    'A text file given with `--targets-config`. Each line is `target` and then the keys of `[[targets]]`',
    'as `key=value`. A value with blanks stands in double quotes, where `\\"` and `\\\\` are a quote and',
    'a backslash; items of lists are separated by commas. Blank lines, and what follows a `#` at the',
    'start of a word, are left out.',
    '',
    '```',
    '# the two feeds of this host',
    'target app=ads server_key=82 classes=process,server',
    'target app=adh server_key=456 instance=1 seed_paths="@root,sink.server"',
    '```',
    '',
  ].join('\n');
}

function optionTable(): string {
  const rows = OPTIONS.map(({ flags, meaning }) => [`\`${flags}\``, plain(meaning)]);
  rows.push(['`--version`', 'Print the version'], ['`--help`', 'Print the help']);
  return markdownTable(['Option', 'Effect'], rows);
}
