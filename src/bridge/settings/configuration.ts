// The configuration of the bridge: its file, checked as a whole, and the resulting components.
import { dirname, isAbsolute, join } from 'node:path';
import type { LogFormat } from '../../logs/log-format.js';
import type { LogLevel } from '../../model.js';
import { readToml } from '../../document/toml-file.js';
import { Fault } from '../../errors.js';
import { Problems } from '../../rules/problems.js';
import { settingNames } from '../../rules/setting-names.js';
import { componentOf } from './component-config.js';
import type { ComponentConfig } from './component-config.js';
import { BRIDGE_FILE } from './component-table.js';
import type { ComponentTable } from './component-table.js';
import { Notes } from './notes.js';
import { OPTIONS } from './options.js';
import type { KeyReader } from './security-key.js';
import { warnOfSharedAddresses } from './shared-addresses.js';

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
 * Reads the file and everything that it names.
 * @param hostName of this host
 * @throws Fault CONFIG_INVALID with every problem of the file, and of the files that it names
 */
export function loadBridgeConfig(file: string, keys: KeyReader, hostName: string): BridgeConfig {
  const document = readToml(file, true);
  const problems = new Problems(document.places, settingNames(OPTIONS));
  const warnings: string[] = [];
  const notesOf = (index: number) => new Notes(['components', index], problems, warnings);
  const values = problems.read(document, BRIDGE_FILE);
  const components = values?.components.map((table) =>
    componentOf({ ...table, ...besideFile(file, table) }, keys, notesOf(table.index)),
  );
  problems.throwIfAny();
  if (values === undefined || components === undefined)
    throw new Fault('CONFIG_INVALID', `${file}: has no components`);
  const { components: tables, host, debug, logLevel, ...pool } = values;
  warnOfSharedAddresses(tables, notesOf);
  return {
    ...pool,
    host: host === '' ? hostName : host,
    logLevel: debug ? 'debug' : logLevel,
    components: components.filter((component) => component !== undefined),
    warnings,
  };
}

/** Paths start at the folder of the file that names them. */
function besideFile(file: string, { securityKey, caFile }: ComponentTable) {
  const beside = (path: string) => (isAbsolute(path) ? path : join(dirname(file), path));
  return {
    caFile: caFile && beside(caFile),
    securityKey: securityKey.startsWith('file:')
      ? `file:${beside(securityKey.slice('file:'.length))}`
      : securityKey,
  };
}
