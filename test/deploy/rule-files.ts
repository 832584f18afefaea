// Reads the rules of deploy/prometheus from the files: their names, labels and expressions.
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const PROMETHEUS = 'deploy/prometheus';

export interface Rule {
  readonly kind: 'alert' | 'record';
  readonly name: string;
  /** The lines of the rule in the file. */
  readonly text: string;
  readonly expr: string;
}

/** The absolute paths of the rule files. */
const RULE_FILES: readonly string[] = readdirSync(PROMETHEUS)
  .filter((file) => file !== 'prometheus.yml')
  .map((file) => resolve(join(PROMETHEUS, file)));
export const ALERT_FILES = RULE_FILES.filter((file) => file.endsWith('alerts.yml'));
export const RECORD_FILES = RULE_FILES.filter((file) => !file.endsWith('alerts.yml'));

/** Every rule of the files, in order. The files have a uniform style, so no YAML parser is needed. */
export const RULES: readonly Rule[] = RULE_FILES.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split(/^ {6}- (?=alert: |record: )/m)
    .slice(1)
    .map((text): Rule => {
      const [, kind, name = ''] = /^(alert|record): (\S+)$/m.exec(text) ?? [];
      return { kind: kind === 'alert' ? 'alert' : 'record', name, text, expr: expressionOf(text) };
    }),
);

export const ALERTS = RULES.filter(({ kind }) => kind === 'alert');
export const RECORDS = RULES.filter(({ kind }) => kind === 'record');

/** Returns the expression, a YAML scalar that is plain, quoted, or folded over indented lines. */
function expressionOf(text: string): string {
  const [, folded] = /^ {8}expr: >-\n((?: {10}.*\n)+)/m.exec(text) ?? [];
  if (folded !== undefined) return folded.trim().replaceAll(/\n\s+/g, ' ');
  const [, line = ''] = /^ {8}expr: (.*)$/m.exec(text) ?? [];
  return line.replace(/^'(.*)'$/, '$1');
}
