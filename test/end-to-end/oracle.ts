// Computes what a page must show for a scenario, from the catalogue file and the scenario alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'toml';
import { PROJECT } from '../support/processes.js';
import { seriesKey } from './page.js';
import type { Labels } from './page.js';

export interface ScenarioVariable {
  readonly type: string;
  readonly value?: string | number | boolean;
}
export interface ScenarioObject {
  readonly id: string;
  readonly parent?: string;
  readonly class: string;
  readonly variables: Readonly<Record<string, ScenarioVariable>>;
}
export interface ScenarioFile {
  readonly objects: readonly ScenarioObject[];
}

interface RowTable {
  readonly name: string;
  readonly type?: string;
  readonly var?: string;
  readonly at?: string;
  readonly class_id?: string;
  readonly scale?: number;
  readonly wrap32?: boolean;
  readonly conv?: string;
  readonly observe?: boolean;
  readonly buckets?: readonly number[];
  readonly quantiles?: readonly number[];
  readonly states?: readonly string[];
  readonly static?: Labels;
  readonly labels_from?: Labels;
  readonly sum_var?: string;
  readonly count_var?: string;
}
interface CatalogueFile {
  readonly classes: readonly {
    readonly class_ids: readonly string[];
    readonly paths: readonly string[];
    readonly metrics: readonly RowTable[];
  }[];
}

/** The expected value of a quantile without observations: a page may have any value there. */
export const UNOBSERVED = 'unobserved';

const STATES = ['init', 'normal', 'manual_recovery', 'auto_recovery', 'dead', 'invalid'];

/** Returns the root and all its descendants. */
export function subtree(scenario: ScenarioFile, rootId: string): ScenarioObject[] {
  const kept = new Set([rootId]);
  return scenario.objects.filter(({ id, parent }) => {
    if (parent !== undefined && kept.has(parent)) kept.add(id);
    return kept.has(id);
  });
}

/** Returns the value of every series of the application, by `seriesKey`. */
export function expectedSeries(
  app: string,
  scenario: ScenarioFile,
  rootId: string,
): Map<string, string> {
  const text = readFileSync(join(PROJECT, `src/catalogue/${app}.toml`), 'utf8');
  const { classes } = parse(text) as unknown as CatalogueFile;
  const objects = subtree(scenario, rootId);
  const pathOf = ({ id }: ScenarioObject) => id.slice(rootId.length + 1);
  const byPath = new Map(objects.map((object) => [pathOf(object), object]));
  const series = new Map<string, string>();
  for (const { class_ids: classIds, paths, metrics } of classes)
    for (const owner of objects) {
      if (!classIds.includes(owner.class)) continue;
      const labels = paths.map((path) => match(path, pathOf(owner))).find((each) => each);
      if (labels === undefined) continue;
      for (const row of metrics) {
        const type = row.type ?? metrics.find(({ name }) => name === row.name)?.type ?? '';
        const at = row.at ?? '';
        const below = [pathOf(owner), at].filter((part) => part !== '').join('.');
        const object = at === '' ? owner : byPath.get(below);
        if (object === undefined || (at !== '' && object.class !== row.class_id)) continue;
        for (const [name, own, value] of samples({ ...row, type }, object)) {
          const key = seriesKey(name, { ...labels, ...row.static, ...own });
          // If two series have the same name and labels, the first one wins.
          if (!series.has(key)) series.set(key, value);
        }
      }
    }
  return series;
}

const escaped = (text: string): string => text.replace(/[\\^$.|?+()[\]{}*]/g, '\\$&');

/**
 * Returns the labels that a pattern such as `a.{b}.{c~[0-9]+}` extracts from a path; undefined if it does not
 * match.
 */
function match(pattern: string, path: string): Labels | undefined {
  if (pattern === '@root') return path === '' ? {} : undefined;
  const shape = pattern
    .split('.')
    .map((segment) => {
      const [, label, source = '[^.]*'] = /^\{(\w+)(?:~(.+))?\}$/.exec(segment) ?? [];
      return label === undefined ? escaped(segment) : `(?<${label}>${source})`;
    })
    .join('\\.');
  const found = new RegExp(`^${shape}$`).exec(path);
  return found === null ? undefined : { ...found.groups };
}

type Expected = readonly [name: string, labels: Labels, value: string];

function samples(row: RowTable & { readonly type: string }, object: ScenarioObject): Expected[] {
  const { name, type, scale = 1 } = row;
  const valueOf = (variable: string | undefined) => object.variables[variable ?? '']?.value;
  const value = valueOf(row.var);
  const wraps = row.wrap32 ?? (type === 'counter' || type === 'summary');
  if (row.labels_from !== undefined) {
    const texts = Object.entries(row.labels_from).flatMap(([label, variable]) => {
      const text = valueOf(variable);
      return text === undefined ? [] : [[label, String(text)] as const];
    });
    return texts.length === 0 ? [] : [[name, Object.fromEntries(texts), '1']];
  }
  if (row.var === '@state')
    return STATES.map((state) => [name, { [name]: state }, String(Number(state === 'normal'))]);
  if (row.sum_var !== undefined) {
    const sum = scaled(valueOf(row.sum_var), scale, wraps);
    const count = scaled(valueOf(row.count_var), 1, wraps);
    if (sum === undefined || count === undefined) return [];
    return [
      [`${name}_sum`, {}, sum],
      [`${name}_count`, {}, count],
    ];
  }
  if (row.conv === 'timestamp') {
    const seconds = Date.parse(String(value)) / 1000;
    return Number.isNaN(seconds) || !/\d:\d\d/.test(String(value))
      ? []
      : [[name, {}, `${seconds}`]];
  }
  if (row.states !== undefined)
    return typeof value !== 'string'
      ? []
      : row.states.map((state) => [name, { [name]: state }, String(Number(state === value))]);
  if (row.observe === true) return value === undefined ? [] : observed(row);
  const [, before = '', label = '', after = ''] =
    /^(.*)\{(\w+)[^}]*\}(.*)$/.exec(row.var ?? '') ?? [];
  if (label === '') {
    const number = scaled(value, scale, wraps);
    return number === undefined ? [] : [[name, {}, number]];
  }
  const shape = new RegExp(`^${escaped(before)}(.+)${escaped(after)}$`);
  return Object.keys(object.variables).flatMap((variable): Expected[] => {
    const captured = shape.exec(variable)?.[1];
    const number = scaled(valueOf(variable), scale, wraps);
    return captured === undefined || number === undefined
      ? []
      : [[name, { [label]: captured }, number]];
  });
}

/** Returns series without observations: a value that was set before the first poll is not observed. */
function observed({ name, buckets = [], quantiles = [] }: RowTable): Expected[] {
  const bounds = buckets.length > 0 ? [...buckets.map(String), '+Inf'] : [];
  return [
    ...quantiles.map((q): Expected => [name, { quantile: String(q) }, UNOBSERVED]),
    ...bounds.map((le): Expected => [`${name}_bucket`, { le }, '0']),
    [`${name}_sum`, {}, '0'],
    [`${name}_count`, {}, '0'],
  ];
}

/**
 * Multiplies an integer by a decimal scale exactly. Returns the shortest text of the double nearest to the
 * product.
 */
function scaled(
  value: ScenarioVariable['value'],
  scale: number,
  wraps: boolean,
): string | undefined {
  if (value === undefined || typeof value === 'string') return undefined;
  const integer = BigInt(value);
  const wrapped = wraps && integer < 0n ? integer + 2n ** 32n : integer;
  if (scale === 1) return String(wrapped);
  const [mantissa = '', exponent = '0'] = String(scale).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  return String(Number(`${wrapped * BigInt(whole + fraction)}e${power}`));
}
