// The configuration of the bridge: its file, checked as a whole, and what follows from it.
import { dirname, isAbsolute, join } from 'node:path';
import { invalid } from '../../document/document.js';
import type { Problem } from '../../document/document.js';
import { readToml } from '../../document/toml-file.js';
import { checked } from '../../rules/checked.js';
import { componentOf } from './component-config.js';
import type { ComponentConfig } from './component-config.js';
import { BRIDGE_FILE } from './component-table.js';
import type { ComponentTable } from './component-table.js';
import { Notes } from './notes.js';
import type { KeyReader } from './security-key.js';
import { warnOfSharedAddresses } from './shared-addresses.js';

export interface BridgeConfig {
  readonly contextId: string;
  readonly poolName: string;
  readonly host: string;
  readonly isDebug: boolean;
  readonly components: readonly ComponentConfig[];
  /** What is allowed and hardly meant, a sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads the file and everything that it names.
 * @param hostName of this host
 * @throws Fault CONFIG_INVALID that tells everything that is wrong with the file, or, once nothing
 *   is, everything that is wrong with what it names
 */
export function loadBridgeConfig(file: string, keys: KeyReader, hostName: string): BridgeConfig {
  const document = readToml(file);
  const { components: tables, host, debug, ...pool } = checked(document, BRIDGE_FILE);
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const notesOf = (index: number) => new Notes(document, ['components', index], problems, warnings);
  const components = tables.map((table, index) =>
    componentOf({ ...table, ...besideFile(file, table) }, index, keys, notesOf(index)),
  );
  warnOfSharedAddresses(tables, notesOf);
  if (problems.length > 0) throw invalid(document.places, problems);
  return {
    ...pool,
    host: host === '' ? hostName : host,
    isDebug: debug,
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
