// Reads one row of a catalogue.
import { OBJECT_STATES } from '../../model.js';
import { keyPath } from '../../document/key-path.js';
import type { FamilyFacts, MetricType } from '../../model.js';
import type { Families } from './families.js';
import type { Row } from '../row.js';
import { checkKeys, kindOf, ROW_KEYS } from './row-kinds.js';
import type { Kind } from './row-kinds.js';
import {
  ascending,
  childPath,
  conversionIn,
  labelPairs,
  stateNames,
  variableName,
} from './row-values.js';
import type { Table } from './table.js';
import { repeated } from '../../rules/rule.js';
import { compileVariablePattern } from '../match/variable-pattern.js';

/** The row in `table`; undefined, with a problem, when it cannot be told what it is. */
export function parseRow(table: Table, families: Families): Row | undefined {
  const before = table.problems.count;
  table.only(ROW_KEYS);
  checkRemarks(table);
  const family = families.of(table);
  if (family === undefined) return undefined;
  const kind = kindOf(table, family.type);
  checkKeys(table, kind, family);
  const row = rowOf(table, kind, family);
  return table.problems.count === before ? row : undefined;
}

/** Source and note are for readers of the file, but must be texts all the same. */
export function checkRemarks(table: Table): void {
  table.text('src');
  table.text('note');
}

function rowOf(table: Table, kind: Kind, family: FamilyFacts): Row {
  const base = {
    family,
    labels: Object.fromEntries(labelPairs(table, 'static')),
    at: childPath(table, 'at'),
    classId: table.text('class_id'),
    where: keyPath(table.path),
  };
  const variable = variableName(table, 'var', kind);
  const conversion = conversionIn(table, 'scale');
  switch (kind) {
    case 'scalar': {
      const pattern = table.problems.catch(table.at('var'), () => compileVariablePattern(variable));
      return { ...base, kind, variable, pattern, conversion, wrap32: wraps(table, family.type) };
    }
    case 'state':
      return { ...base, kind, states: OBJECT_STATES };
    case 'info': {
      const pairs = labelPairs(table, 'labels_from');
      if (pairs.length === 0)
        table.problems.add(table.at('labels_from'), 'found an empty table, needed: a label');
      return {
        ...base,
        kind,
        labelsFrom: pairs.map(([label, from]) => ({ label, variable: from })),
      };
    }
    case 'stateset':
      return { ...base, kind, variable, states: stateNames(table, 'states') };
    case 'timestamp':
      mustBe(table, 'conv', table.text('conv'), 'timestamp');
      return { ...base, kind, variable };
    case 'distribution':
      return { ...base, kind, variable, conversion };
    case 'observed-histogram':
      mustBe(table, 'observe', table.flag('observe'), true);
      return { ...base, kind, variable, conversion, buckets: ascending(table, 'buckets') };
    case 'observed-summary':
      mustBe(table, 'observe', table.flag('observe'), true);
      return {
        ...base,
        kind,
        variable,
        conversion,
        quantiles: ascending(table, 'quantiles', 0, 1),
      };
    case 'pair': {
      const sum = variableName(table, 'sum_var', kind);
      const count = variableName(table, 'count_var', kind);
      if (sum === count) table.problems.add(table.at('count_var'), repeated(table.at('sum_var')));
      return { ...base, kind, sum, count, conversion, wrap32: wraps(table, family.type) };
    }
  }
}

/** A total never falls below zero, so a negative one has wrapped, unless the row says otherwise. */
function wraps(table: Table, type: MetricType): boolean {
  const total = type === 'counter' || type === 'summary';
  if (table.has('wrap32') && !total)
    table.problems.add(
      table.at('wrap32'),
      `has no meaning for type ${type}, which may be negative`,
    );
  return table.flag('wrap32') ?? total;
}

function mustBe<T>(table: Table, key: string, found: T | undefined, wanted: T): void {
  if (found !== undefined && found !== wanted)
    table.problems.add(
      table.at(key),
      `found ${JSON.stringify(found)}, allowed: ${JSON.stringify(wanted)}`,
    );
}
