// The text of a registry's metrics, as prom-client writes it.
import type { DefaultLabels, MetricObjectWithValues } from './metric-object.js';

type Labels = Readonly<Partial<Record<string, unknown>>>;

/** A page of metrics, from the texts of its metrics. */
export const pageOf = (metrics: readonly string[], isOpenMetrics: boolean): string =>
  isOpenMetrics ? `${metrics.join('\n')}\n# EOF\n` : `${metrics.join('\n\n')}\n`;

/** The header and the series of a metric. */
export function textOf(
  { name: stated, help, type, values }: MetricObjectWithValues,
  defaults: DefaultLabels,
  isOpenMetrics: boolean,
): string {
  const suffix = isOpenMetrics && type === 'counter' ? '_total' : '';
  const name = escaped(suffix === '' ? stated : stated.replace(/_total$/, ''));
  const lines = [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`];
  for (const { value, labels, metricName = name, sharedLabels } of values) {
    const all = { ...labels, ...defaults, ...labels, ...sharedLabels };
    lines.push(`${metricName}${suffix}${labelText(all)} ${numberText(value)}`);
  }
  return lines.join('\n');
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([label, value]) => `${label}="${escaped(String(value)).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'Nan';
  return Math.abs(value) === Infinity ? (value > 0 ? '+Inf' : '-Inf') : String(value);
}
