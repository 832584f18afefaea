// Makes keys and certificates with openssl, for tests of certificate checks.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Folder {
  readonly path: (name: string) => string;
  /** Writes a file and returns its path. */
  readonly write: (name: string, text: string) => string;
}

interface Issue {
  /** The name of the issuer. Default: the certificate signs itself. */
  readonly by?: string;
  /** The lines of the extensions section in openssl's configuration. */
  readonly extensions: readonly string[];
  readonly hasExpired?: boolean;
  readonly key?: 'ec' | 'rsa';
  /** The name of an earlier certificate. The new certificate gets the key and the subject of that one. */
  readonly like?: string;
}

export const AUTHORITY = 'basicConstraints=critical,CA:TRUE';

const NEW_KEY = {
  ec: ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  rsa: ['rsa:2048'],
} as const;

/** Creates certificates and their keys in a folder, as NAME.pem and NAME.key. */
export class Authorities {
  readonly #folder: Folder;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  issue(
    name: string,
    { by, extensions, hasExpired = false, key = 'ec', like = name }: Issue,
  ): void {
    const at = (file: string) => this.#folder.path(file);
    const config = this.#folder.write(
      `${name}.cnf`,
      `[req]\ndistinguished_name = name\nx509_extensions = own\n[name]\n[own]\n${extensions.join('\n')}\n`,
    );
    const keyed =
      like === name
        ? ['-newkey', ...NEW_KEY[key], '-nodes', '-keyout', at(`${name}.key`)]
        : ['-key', at(`${like}.key`)];
    const signed = by === undefined ? [] : ['-CA', at(`${by}.pem`), '-CAkey', at(`${by}.key`)];
    const named = ['-subj', `/CN=${like}`, '-out', at(`${name}.pem`)];
    openssl('req', '-x509', '-config', config, ...keyed, ...signed, ...named);
    if (!hasExpired) return;
    // `req -x509` cannot create an expired certificate; `x509 -req` can.
    const [csr, own] = [at(`${name}.csr`), ['-key', at(`${like}.key`), '-subj', `/CN=${like}`]];
    openssl('req', '-new', '-config', config, ...own, '-out', csr);
    const signer =
      by === undefined ? ['-signkey', at(`${like}.key`)] : [...signed, '-CAcreateserial'];
    const term = ['-days', '-1', '-extfile', config, '-extensions', 'own'];
    openssl('x509', '-req', '-in', csr, ...term, ...signer, '-out', at(`${name}.pem`));
  }

  /** The certificates with these names, in PEM. */
  pem(...names: readonly string[]): string {
    return names.map((name) => this.#read(`${name}.pem`)).join('');
  }

  key(name: string): string {
    return this.#read(`${name}.key`);
  }

  #read(file: string): string {
    return readFileSync(this.#folder.path(file), 'utf8');
  }
}

const openssl = (...args: readonly string[]): unknown =>
  execFileSync('openssl', args, { stdio: 'pipe' });
