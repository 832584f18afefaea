// Reads a web configuration file and the files that it names.
import { dirname, isAbsolute, join } from 'node:path';
import { keyPath } from '../document/document.js';
import type { SettingsDocument } from '../document/document.js';
import { readYaml } from '../document/yaml-file.js';
import { Fault } from '../errors.js';
import { checked } from '../rules/problems.js';
import { serverTls } from './server-tls.js';
import type { ServerTls } from './server-tls.js';
import { WEB_CONFIG, webConfigName } from './web-config-rule.js';
import type { RateLimit } from './web-config-rule.js';

export interface WebConfig {
  /** Null for plain HTTP. */
  readonly tls: ServerTls | null;
  /** The headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hashes of passwords by user; empty without authentication by password. */
  readonly users: ReadonlyMap<string, string>;
  readonly rate: RateLimit;
  /** The paths of the file and of all files that it names. */
  readonly files: readonly string[];
}

/**
 * Reads a web configuration.
 * @throws Fault CONFIG_INVALID with all its problems, or with one problem of a file that it names
 */
export function readWebConfig(file: string): WebConfig {
  const document = readYaml(file);
  const values = checked(document, WEB_CONFIG, webConfigName);
  const { tlsServerConfig: tls, httpServerConfig: http } = values;
  const resolvePath = (path: string) =>
    path === '' || isAbsolute(path) ? path : join(dirname(file), path);
  const read = tls === null ? null : serverTls(tls, resolvePath, tlsFault(document));
  return {
    tls: read,
    headers: Object.fromEntries(http.headers),
    users: values.basicAuthUsers,
    rate: values.rateLimit,
    files: [file, ...(read?.files ?? [])],
  };
}

/** Returns a function that makes a fault about the TLS settings. With a key, the fault has the key's position. */
const tlsFault =
  ({ places }: SettingsDocument) =>
  (sentence: string, key?: string) => {
    const path = ['tls_server_config', ...(key === undefined ? [] : [key])];
    const place = places.at(places.offset(path, 'value') ?? 0);
    return new Fault('CONFIG_INVALID', `${place}: ${keyPath(path)}: ${sentence}`);
  };

/** Whether a web configuration requires a password or a client certificate. */
export const authenticatesClients = ({ tls, users }: Pick<WebConfig, 'tls' | 'users'>): boolean =>
  users.size > 0 || tls?.clientAuth === 'RequireAndVerifyClientCert';
