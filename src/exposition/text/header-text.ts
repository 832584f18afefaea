// Prometheus text 0.0.4: the header lines of a family.
import type { FamilyFacts, Header, MetricType } from '../../model.js';

/** The types of text 0.0.4; info metrics and state sets become gauges. */
const TYPES: Record<MetricType, string> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
  summary: 'summary',
  info: 'gauge',
  stateset: 'gauge',
  unknown: 'untyped',
};

const escapeHelp = (text: string) => text.replace(/[\\\n]/g, (c) => (c === '\n' ? '\\n' : '\\\\'));

export const headerText = ({ name, type, help }: FamilyFacts): string =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${TYPES[type]}\n`;

export function headerOf(facts: FamilyFacts): Header {
  const text = headerText(facts);
  return { text, bytes: Buffer.byteLength(text) };
}
