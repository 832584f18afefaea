// The kinds of rows that a catalogue file can hold, and the keys of each.
import type { FamilyFacts, MetricType } from '../../model.js';
import type { Row } from '../row.js';
import type { Table } from './table.js';

export type Kind = Row['kind'];

const COMMON = ['name', 'type', 'unit', 'help', 'at', 'class_id', 'static', 'src', 'note'];

/** The metric types that a kind can give, and the keys that it must and may have. */
const KINDS: Readonly<Record<Kind, { types: MetricType[]; must: string[]; may?: string[] }>> = {
  scalar: { types: ['gauge', 'counter', 'unknown'], must: ['var'], may: ['scale', 'wrap32'] },
  state: { types: ['stateset'], must: ['var'] },
  info: { types: ['info'], must: ['labels_from'] },
  stateset: { types: ['stateset'], must: ['var', 'states'] },
  timestamp: { types: ['gauge'], must: ['var', 'conv'] },
  distribution: { types: ['histogram', 'summary'], must: ['var'], may: ['scale'] },
  'observed-histogram': {
    types: ['histogram'],
    must: ['var', 'observe', 'buckets'],
    may: ['scale'],
  },
  'observed-summary': {
    types: ['summary'],
    must: ['var', 'observe', 'quantiles'],
    may: ['scale'],
  },
  pair: { types: ['summary'], must: ['sum_var', 'count_var'], may: ['scale', 'wrap32'] },
};

/** Every key that a row of any kind may have. */
export const ROW_KEYS: readonly string[] = [
  ...new Set([
    ...COMMON,
    ...Object.values(KINDS).flatMap(({ must, may = [] }) => [...must, ...may]),
  ]),
];

/** What kind of row the keys in `table` make, for a metric of this type. */
export function kindOf(table: Table, type: MetricType): Kind {
  if (type === 'info' || table.has('labels_from')) return 'info';
  if (table.has('sum_var') || table.has('count_var')) return 'pair';
  if (table.has('conv')) return 'timestamp';
  if (type === 'stateset') return table.text('var') === '@state' ? 'state' : 'stateset';
  const observed = table.has('observe') || table.has('buckets') || table.has('quantiles');
  if (type === 'histogram') return observed ? 'observed-histogram' : 'distribution';
  if (type === 'summary') return observed ? 'observed-summary' : 'distribution';
  return 'scalar';
}

/** Notes keys that the kind needs and does not find, or finds and has no use for. */
export function checkKeys(table: Table, kind: Kind, { type, name }: FamilyFacts): void {
  const { types, must, may = [] } = KINDS[kind];
  if (!types.includes(type))
    table.problems.add(
      table.path,
      `${name} is of type ${type}, but its keys are those of ${types.join(' or ')}`,
    );
  table.needs(...must);
  const allowed = [...COMMON, ...must, ...may];
  for (const key of table.keys)
    if (ROW_KEYS.includes(key) && !allowed.includes(key))
      table.problems.add(table.at(key), `has no meaning here: ${name} takes ${must.join(', ')}`);
  if (table.has('at') !== table.has('class_id'))
    table.problems.add(table.path, '"at" and "class_id" must be given together');
}
