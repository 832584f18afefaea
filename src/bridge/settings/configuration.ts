// Loads the configuration of the bridge, and parses its command line.
import { dirname, isAbsolute, join } from 'node:path';
import { keyPath, quoted } from '../../document/document.js';
import { readToml } from '../../document/toml-file.js';
import { Fault } from '../../errors.js';
import type { LogFormat } from '../../logs/log.js';
import type { LogLevel } from '../../model.js';
import { readCommandLine } from '../../rules/command-line.js';
import { Problems } from '../../rules/problems.js';
import { settingNames } from '../../rules/table.js';
import { treeUrlOf } from './component-formats.js';
import { BRIDGE_FILE, componentOf } from './component-table.js';
import type { ComponentConfig, ComponentTable } from './component-table.js';
import { OPTIONS, PROGRAM } from './options.js';
import type { KeyReader } from './security-key.js';

/** Warns of each component that has the same address as an earlier component. */
function warnOfSharedAddresses(
  tables: readonly ComponentTable[],
  warn: (index: number, key: string, sentence: string) => void,
): void {
  const first = new Map<string, number>();
  tables.forEach(({ url, index }) => {
    const { href } = treeUrlOf(url);
    const earlier = first.get(href);
    if (earlier === undefined) first.set(href, index);
    else
      warn(
        index,
        'url',
        `components[${earlier}] has the same address, so its tree is polled and published twice`,
      );
  });
}

export interface BridgeConfig {
  readonly contextId: string;
  readonly poolName: string;
  readonly host: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly components: readonly ComponentConfig[];
  /** Warnings about valid settings that are probably not intended, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration file, and the files and environment variables that it names.
 * @param hostName the name of this host
 * @throws Fault CONFIG_INVALID with every problem of the file, and of the files that it names
 */
export function loadBridgeConfig(file: string, keys: KeyReader, hostName: string): BridgeConfig {
  const document = readToml(file, true);
  const problems = new Problems(document.places, settingNames(OPTIONS));
  const warnings: string[] = [];
  const warn = (index: number, key: string, sentence: string): void => {
    const path = ['components', index, key];
    const { places } = document;
    warnings.push(`${places.at(places.offset(path, 'value') ?? 0)}: ${keyPath(path)}: ${sentence}`);
  };
  const values = problems.read(document, BRIDGE_FILE);
  const components = values?.components.map((table) =>
    componentOf({ ...table, ...besideFile(file, table) }, keys, problems, (...warning) => {
      warn(table.index, ...warning);
    }),
  );
  problems.throwIfAny();
  if (values === undefined || components === undefined)
    throw new Fault('CONFIG_INVALID', `${file}: has no components`);
  const { components: tables, host, debug, logLevel, ...pool } = values;
  warnOfSharedAddresses(tables, warn);
  return {
    ...pool,
    host: host === '' ? hostName : host,
    logLevel: debug ? 'debug' : logLevel,
    components: components.filter((component) => component !== undefined),
    warnings,
  };
}

/** The settings with absolute paths. Relative paths start at the folder of the configuration file. */
function besideFile(file: string, { securityKey, caFile }: ComponentTable) {
  const beside = (path: string) => (isAbsolute(path) ? path : join(dirname(file), path));
  return {
    caFile: caFile && beside(caFile),
    securityKey: securityKey.startsWith('file:')
      ? `file:${beside(securityKey.slice('file:'.length))}`
      : securityKey,
  };
}

/**
 * The configuration with only the component `name`, or with all components if `name` is undefined.
 * @throws Fault USAGE if no component has that name
 */
export function onlyComponent(config: BridgeConfig, name: string | undefined): BridgeConfig {
  if (name === undefined) return config;
  const components = config.components.filter((component) => component.name === name);
  if (components.length > 0) return { ...config, components };
  const names = config.components.map((component) => quoted(component.name)).join(' or ');
  throw new Fault('USAGE', `--component: found ${quoted(name)}, allowed: ${names}`);
}

/** The action and the options of a command line. */
export type BridgeInvocation =
  | {
      readonly kind: 'run' | 'check' | 'once';
      readonly file: string;
      /** The name of the only component to poll. */
      readonly component: string | undefined;
      /** The options for the log, which override the file. */
      readonly log: Partial<Pick<BridgeConfig, 'logLevel' | 'logFormat'>>;
    }
  | { readonly kind: 'print'; readonly text: string };

/** @throws Fault USAGE for unknown or conflicting options, and for missing arguments */
export function parseArguments(argv: readonly string[], version: string): BridgeInvocation {
  const line = readCommandLine(PROGRAM, argv, version);
  if (line.kind === 'text') return { kind: 'print', text: line.text };
  const { config, checkConfig, once, component, debug, logFormat } = line.options;
  const logLevel = debug ? 'debug' : line.options.logLevel;
  const kind = checkConfig ? 'check' : once ? 'once' : 'run';
  const log = {
    ...(logLevel !== undefined && { logLevel }),
    ...(logFormat !== undefined && { logFormat }),
  };
  return { kind, file: config, component, log };
}
