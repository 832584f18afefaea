// Prometheus text 0.0.4: header lines of a family, and names and labels of a series.
import type { FamilyFacts, MetricType } from '../model.js';
import { textFormat } from './text-page.js';

/** The types that text 0.0.4 has; info and state sets are gauges there. */
const TYPES: Record<MetricType, string> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
  summary: 'summary',
  info: 'gauge',
  stateset: 'gauge',
  unknown: 'untyped',
};

export type Labels = Readonly<Record<string, string>>;

const escapeLabel = (text: string) =>
  !/[\\"\n]/.test(text) ? text : text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));

const escapeHelp = (text: string) => text.replace(/[\\\n]/g, (c) => (c === '\n' ? '\\n' : '\\\\'));

export const headerText = ({ name, type, help }: FamilyFacts): string =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${TYPES[type]}\n`;

/** Pages of text 0.0.4. */
export const TEXT = textFormat({
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  header: headerText,
  end: '',
});

/** Labels as they stand between the braces; those with an empty value are left out. */
export function labelsText(labels: Labels): string {
  let text = '';
  for (const key in labels) {
    const value = labels[key] ?? '';
    if (value !== '') text += `${text === '' ? '' : ','}${key}="${escapeLabel(value)}"`;
  }
  return text;
}

/** Name and labels of a series, from labels as `labelsText` gives them. */
export const seriesText = (name: string, labels: string): string =>
  labels === '' ? name : `${name}{${labels}}`;

/** Two label texts as one. */
export const joinLabels = (a: string, b: string): string =>
  a === '' ? b : b === '' ? a : `${a},${b}`;
