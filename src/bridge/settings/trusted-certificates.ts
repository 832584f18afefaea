// Reads the certificates that verify a component's certificate.
import { X509Certificate } from 'node:crypto';
import { readText } from '../../document/text-file.js';
import { Fault } from '../../errors.js';

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;
const CERTIFICATE = /^(X509 |TRUSTED )?CERTIFICATE$/;

/**
 * The text of a file of certificates in PEM.
 * @throws Fault CONFIG_INVALID for a file without any, or with one that is damaged
 */
export function readCertificates(file: string): string {
  const text = readText(file);
  const blocks = [...text.matchAll(BLOCK)];
  const certificates = blocks.filter(([, kind = '']) => CERTIFICATE.test(kind));
  if (certificates.length === 0) {
    const [, kind] = blocks[0] ?? [];
    const found = kind === undefined ? 'nothing in PEM' : `only ${kind}`;
    throw invalid(`${file}: holds ${found}, needed: "-----BEGIN CERTIFICATE-----" and so on`);
  }
  certificates.forEach(([block], index) => {
    if (!isCertificate(block)) throw invalid(`${file}: certificate ${index + 1} is damaged`);
  });
  return text;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

const invalid = (sentence: string): Fault => new Fault('CONFIG_INVALID', sentence);
