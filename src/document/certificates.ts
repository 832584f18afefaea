// Checks PEM text that must contain certificates, for example a file of authorities.
import { X509Certificate } from 'node:crypto';
import type { Fault } from '../errors.js';

/** Matches a block of PEM. A block without its END line matches up to the next block or the end of the text. */
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*(?:-----END \1-----)?/g;
const CERTIFICATE = /^(X509 |TRUSTED )?CERTIFICATE$/;

/**
 * Checks every certificate of a text, since OpenSSL silently ignores a damaged one and all that follow it. Other blocks,
 * and text around blocks, are allowed.
 * @returns the certificates: at least one
 * @throws the fault of `refused`, whose argument is a clause about the text
 */
export function checkedCertificates(
  text: string,
  refused: (clause: string) => Fault,
): readonly X509Certificate[] {
  const blocks = [...text.matchAll(BLOCK)];
  const certificates = blocks.filter(([, kind = '']) => CERTIFICATE.test(kind));
  if (certificates.length === 0) {
    const [, kind] = blocks[0] ?? [];
    const found = kind === undefined ? 'nothing in PEM' : `only ${kind}`;
    throw refused(`holds ${found}, needed: a certificate in PEM ("-----BEGIN CERTIFICATE-----")`);
  }
  return certificates.map(([block], index) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw refused(`certificate ${index + 1} is damaged`);
    }
  });
}
