// Names as Prometheus recommends them: base units, `_total`, and labels in place of parts of names.
import { metricNamePart } from '../../catalogue/names.js';
import { CLEAN_TABLE } from './clean-table.js';
import type { CleanRow } from './clean-table.js';
import type { NamedPoint, Naming, Point } from './naming.js';

/** Classes of storage, whose metrics have one name. */
const STORAGE: ReadonlySet<string> = new Set(['sma', 'smf', 'smu', 'umem', 'mse', 'mse4']);
/** The label that tells the segments of a class apart. */
const LABELS: Readonly<Record<string, string>> = {
  storage: 'storage',
  lck: 'lock',
  mempool: 'pool',
};
/** Classes that a process has once. */
const SINGLE: ReadonlySet<string> = new Set(['main', 'mgt']);

function cleanName({ ident, className, field }: Point): NamedPoint {
  const group = STORAGE.has(className) ? 'storage' : className;
  const { name, row } = rowOf(group, field.name);
  const kind = row?.kind ?? (field.kind === 'counter' ? 'counter' : 'gauge');
  const words = [name ?? `${metricNamePart(group)}_${plainWord(field.name)}`];
  if (field.unit !== '' && !words.join('_').split('_').includes(field.unit)) words.push(field.unit);
  if (kind === 'counter') words.push('total');
  const labels = { ...labelsOf(group, ident), ...row?.labels?.(field.name) };
  return {
    kind,
    metric: { name: `varnish_${words.join('_')}`, help: row?.help ?? sentence(field.help), labels },
  };
}

/** The row of a value, and the name that it gives. */
function rowOf(group: string, field: string): { readonly name?: string; readonly row?: CleanRow } {
  for (const row of CLEAN_TABLE)
    if (row.group === group && row.fields.test(field)) return { name: row.name, row };
  return {};
}

/** Without the letter that says whether Varnish counts or has it: types and endings do. */
const plainWord = (field: string): string => {
  const word = metricNamePart(field);
  return word.replace(/^[cgns]_(?=.)/, '');
};

function labelsOf(group: string, ident: string): Record<string, string> {
  const dot = ident.indexOf('.');
  if (dot < 0 || SINGLE.has(group)) return {};
  const rest = ident.slice(dot + 1);
  if (group !== 'vbe') return { [LABELS[group] ?? 'id']: rest };
  const end = rest.indexOf('.');
  return end < 0
    ? { vcl: '', backend: rest }
    : { vcl: rest.slice(0, end), backend: rest.slice(end + 1) };
}

const sentence = (help: string): string => (/[.!?]$/.test(help) || help === '' ? help : `${help}.`);

const start = (process: string) => ({
  name: `varnish_${process}_start_time_seconds`,
  help: `When the ${process} process of Varnish began, in Unix seconds.`,
  labels: {},
});

export const CLEAN_NAMES: Naming = {
  keyOf: (ident) => ident,
  named: cleanName,
  own: {
    up: { name: 'varnish_up', help: 'Whether Varnish runs.', labels: {} },
    managerStart: start('manager'),
    childStart: start('child'),
    backendUp: (ident) => ({
      name: 'varnish_backend_up',
      help: 'Whether the last probe of the backend was good; only for backends of which one ever was.',
      labels: labelsOf('vbe', ident),
    }),
  },
};
