// The self-signed certificates of test components; see tls/README.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './processes.js';

export const tlsPath = (name: string): string => join(PROJECT, 'test/support/tls', name);

const pair = (name: string) => ({
  cert: readFileSync(tlsPath(`${name}.cert.pem`), 'utf8'),
  key: readFileSync(tlsPath(`${name}.key.pem`), 'utf8'),
});

/** The certificate of 127.0.0.1 and localhost. */
export const COMPONENT_TLS = pair('component');
/** The certificate of another host name. */
export const OTHER_TLS = pair('other');
