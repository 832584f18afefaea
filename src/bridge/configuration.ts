// The configuration of the bridge: its file, checked as a whole, and what follows from it.
import { dirname, isAbsolute, join } from 'node:path';
import { invalid, problemAt } from '../document/document.js';
import type { Document, Problem } from '../document/document.js';
import { readToml } from '../document/toml-file.js';
import { checked } from '../rules/checked.js';
import { componentOf } from './component-config.js';
import type { ComponentConfig } from './component-config.js';
import { BRIDGE_FILE } from './component-table.js';
import type { ComponentTable } from './component-table.js';
import { Notes } from './notes.js';
import type { Environment } from './security-key.js';

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
 * @throws Fault CONFIG_INVALID that tells everything that is wrong
 */
export function loadBridgeConfig(
  file: string,
  environment: Environment,
  hostName: string,
): BridgeConfig {
  const document = readToml(file);
  const { components: tables, host, debug, ...pool } = checked(document, BRIDGE_FILE);
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const components = tables.map((table, index) => {
    const path = ['components', index];
    const notes = new Notes(document, path, problems, warnings);
    return componentOf({ ...table, ...besideFile(file, table) }, index, environment, notes);
  });
  problems.push(...sharedKeys(tables, document));
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

/** Two components cannot publish in one segment. */
function sharedKeys(tables: readonly ComponentTable[], { places }: Document): readonly Problem[] {
  const first = new Map<string, number>();
  return tables.flatMap(({ serverKey }, index) => {
    const earlier = first.get(serverKey);
    if (earlier === undefined) first.set(serverKey, index);
    if (earlier === undefined) return [];
    const sentence = `repeats components[${earlier}].server_key, allowed are only different ones`;
    return [problemAt(places, ['components', index, 'server_key'], sentence)];
  });
}
