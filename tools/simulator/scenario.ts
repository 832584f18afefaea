// Reads a scenario from its JSON file and checks all of it.
import { readFileSync } from 'node:fs';
import { Fault, messageOf } from '#app/errors.js';
import { OBJECT_STATES } from '#app/model.js';
import { VALUE_TYPES } from '#app/published.js';
import type { ValueType } from '#app/published.js';
import { Checker } from './checker.js';
import type { Scenario, ScenarioObject, ScenarioStep, ScenarioVariable } from './scenario-model.js';

const TYPES = Object.keys(VALUE_TYPES) as [ValueType, ...ValueType[]];
const KINDS = ['unknown', 'counter', 'gauge'] as const;

/** @throws Fault SCENARIO_INVALID with one line for each problem */
export function readScenario(path: string): Scenario {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('SCENARIO_INVALID', `Cannot read ${path}: ${messageOf(error)}`);
  }
  return parseScenario(text, path);
}

/** @param from the name of the file in messages */
export function parseScenario(text: string, from: string): Scenario {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Fault('SCENARIO_INVALID', `${from} is not JSON: ${messageOf(error)}`);
  }
  const check = new Checker(from);
  const file = check.record(json, '', [
    'context_id',
    'pool_name',
    'server_key',
    'objects',
    'steps',
    'repeat',
  ]);
  const scenario: Scenario = {
    contextId: check.optionalText(file['context_id'], 'context_id'),
    poolName: check.optionalText(file['pool_name'], 'pool_name'),
    serverKey: check.optionalText(file['server_key'], 'server_key'),
    objects: check
      .list(file['objects'], 'objects')
      .map((each, i) => parseObject(check, each, `objects[${i}]`)),
    steps: check
      .list(file['steps'] ?? [], 'steps')
      .map((each, i) => parseStep(check, each, `steps[${i}]`)),
    repeat: check.flag(file['repeat'], 'repeat', false),
  };
  check.throwIfAny();
  return scenario;
}

function parseObject(check: Checker, json: unknown, at: string): ScenarioObject {
  const object = check.record(json, at, ['id', 'parent', 'class', 'state', 'synced', 'variables']);
  const variables = check.record(object['variables'] ?? {}, `${at}.variables`);
  return {
    id: check.text(object['id'], `${at}.id`),
    parent: check.optionalText(object['parent'] ?? undefined, `${at}.parent`),
    className: check.text(object['class'], `${at}.class`),
    state: check.oneOf(object['state'] ?? 'normal', `${at}.state`, OBJECT_STATES),
    synced: check.flag(object['synced'], `${at}.synced`, true),
    variables: Object.entries(variables).map(([name, each]) =>
      parseVariable(check, name, each, `${at}.variables[${JSON.stringify(name)}]`),
    ),
  };
}

function parseVariable(check: Checker, name: string, json: unknown, at: string): ScenarioVariable {
  const variable = check.record(json, at, ['type', 'value', 'kind', 'unit', 'help']);
  const type = check.oneOf(variable['type'], `${at}.type`, TYPES);
  const raw = variable['value'];
  return {
    name,
    type,
    kind: check.oneOf(variable['kind'] ?? 'unknown', `${at}.kind`, KINDS),
    unit: check.optionalText(variable['unit'], `${at}.unit`) ?? '',
    help: check.optionalText(variable['help'], `${at}.help`) ?? '',
    value: raw === undefined || raw === null ? undefined : check.value(raw, type, `${at}.value`),
  };
}

function parseStep(check: Checker, json: unknown, at: string): ScenarioStep {
  const keys = ['after_ms', 'set', 'add', 'remove', 'sync', 'state', 'exit'];
  const step = check.record(json, at, keys);
  const set = check.record(step['set'] ?? {}, `${at}.set`);
  const state = check.record(step['state'] ?? {}, `${at}.state`);
  const texts = (key: string) =>
    check
      .list(step[key] ?? [], `${at}.${key}`)
      .map((each, i) => check.text(each, `${at}.${key}[${i}]`));
  return {
    afterMs: check.milliseconds(step['after_ms'], `${at}.after_ms`),
    set: Object.entries(set).flatMap(([id, values]) =>
      Object.entries(check.record(values, `${at}.set[${JSON.stringify(id)}]`)).map(
        ([name, value]) => [id, name, value] as const,
      ),
    ),
    add: check
      .list(step['add'] ?? [], `${at}.add`)
      .map((each, i) => parseObject(check, each, `${at}.add[${i}]`)),
    remove: texts('remove'),
    sync: texts('sync'),
    state: Object.entries(state).map(
      ([id, value]) => [id, check.oneOf(value, `${at}.state`, OBJECT_STATES)] as const,
    ),
    exit:
      step['exit'] === undefined
        ? undefined
        : check.oneOf(step['exit'], `${at}.exit`, ['clean', 'kill'] as const),
  };
}
