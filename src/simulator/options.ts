// The options of shm_simulator, and what of them does not go together.
import { Command, InvalidArgumentError } from 'commander';
import { Fault } from '../errors.js';
import { FAULT_NAMES } from './component/faults.js';
import type { FaultName } from './component/faults.js';
import { NO_FAULT, faultNamed } from './component/fault-command.js';
import { ODDITY_NAMES } from './component/oddities.js';
import type { OddityName } from './component/oddities.js';

export interface Options {
  readonly app: string;
  readonly serverKey?: string;
  readonly root?: string;
  readonly objects: number;
  readonly rate: number;
  readonly changeFraction: number;
  readonly seed: number;
  readonly scenario?: string;
  readonly contextId?: string;
  readonly poolName?: string;
  readonly jsonPort?: number;
  readonly jsonBase?: string;
  readonly securityKey?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** True for all. */
  readonly oddities?: readonly OddityName[] | true;
  readonly fault?: FaultName | typeof NO_FAULT;
}

/** Those that say something about the JSON and nothing about a segment. */
const JSON_OPTIONS = {
  jsonBase: '--json-base',
  securityKey: '--security-key',
  tlsCert: '--tls-cert',
  tlsKey: '--tls-key',
  oddities: '--oddities',
  fault: '--fault',
} as const satisfies Partial<Record<keyof Options, string>>;

const number = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (text === '' || !(value >= least && value <= most))
    throw new InvalidArgumentError(`Allowed: a number from ${least} to ${most}.`);
  return value;
};

const whole = (least: number, most: number) => (text: string) => {
  const value = number(least, most)(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('Allowed: a whole number.');
  return value;
};

const word = (text: string) => {
  if (text === '') throw new InvalidArgumentError('Allowed: at least one character.');
  return text;
};

const base = (text: string) => {
  if (!/^(\/[\w.~-]+)*$/.test(text))
    throw new InvalidArgumentError('Allowed: a path such as /rtds, without a slash at its end.');
  return text;
};

/** What a header can say. */
const key = (text: string) => {
  if (!/^[!-~]([ -~]*[!-~])?$/.test(text))
    throw new InvalidArgumentError('Allowed: ASCII characters, no blank at either end.');
  return text;
};

const oddities = (text: string): readonly OddityName[] =>
  text.split(',').map((each) => {
    const name = ODDITY_NAMES.find((known) => known === each);
    if (name === undefined)
      throw new InvalidArgumentError(`Allowed: ${ODDITY_NAMES.join(', ')}; all without a value.`);
    return name;
  });

const fault = (text: string): FaultName | typeof NO_FAULT => {
  const name = faultNamed(text);
  if (name === undefined)
    throw new InvalidArgumentError(`Allowed: ${[...FAULT_NAMES, NO_FAULT].join(', ')}.`);
  return name;
};

const program = (): Command =>
  new Command('shm_simulator')
    .description('Publishes simulated managed objects in shared memory, or as JSON, until a signal')
    .option('--app <app>', 'application whose tree is made up', 'ads')
    .option('--server-key <key>', 'server key to publish under')
    .option('--root <id>', 'id of the root object, such as host.1.ads', word)
    .option('--objects <n>', 'about how many objects', whole(1, 100_000), 100)
    .option('--rate <hz>', 'how often values change', number(0, 1000), 1)
    .option('--change-fraction <f>', 'share of the values that change', number(0, 1), 0.1)
    .option('--seed <s>', 'seed of names and values', whole(0, 2 ** 32 - 1), 1)
    .option('--scenario <file>', 'plays this file instead')
    .option('--context-id <id>', 'shared-memory context id (default: "shmApp")')
    .option('--pool-name <name>', 'shared-memory pool name (default: "pool")')
    .optionsGroup('Options for JSON over HTTP in place of shared memory:')
    .option(
      '--json-port <port>',
      'serves the tree on this port of 127.0.0.1, 0 for a free one, at <base>/sharedmem',
      whole(0, 65_535),
    )
    .option('--json-base <path>', 'what stands before /sharedmem (default: nothing)', base)
    .option('--security-key <key>', 'asks for this key in the header Security-Key', key)
    .option('--tls-cert <file>', 'PEM file of the certificate: speaks HTTPS')
    .option('--tls-key <file>', "PEM file of the certificate's private key")
    .option(
      '--oddities [names]',
      `writes as oddly as real servers do; all, or some of ${ODDITY_NAMES.join(', ')}`,
      oddities,
    )
    .option(
      '--fault <name>',
      `what is wrong from the start; lines such as "fault cut" and "fault none" on stdin change it: ${FAULT_NAMES.join(', ')}`,
      fault,
    )
    .exitOverride();

/** @throws CommanderError, after it has been told; Fault USAGE for what does not go together */
export function parseOptions(args: readonly string[]): Options {
  const options = program().parse(args, { from: 'user' }).opts<Options>();
  const { jsonPort, serverKey, scenario, tlsCert, tlsKey } = options;
  for (const [name, flag] of Object.entries(JSON_OPTIONS))
    if (jsonPort === undefined && options[name as keyof typeof JSON_OPTIONS] !== undefined)
      throw new Fault('USAGE', `option ${flag} needs --json-port`);
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new Fault('USAGE', 'options --tls-cert and --tls-key need each other');
  if (jsonPort === undefined && serverKey === undefined && scenario === undefined)
    throw new Fault('USAGE', 'option --server-key is needed');
  return options;
}
