// Files of certificates that a component's own is checked with.
import { expect } from 'chai';
import { readCertificates } from '#app/bridge/settings/security-key.js';
import { COMPONENT_TLS, OTHER_TLS } from '../../support/component-certificates.js';
import { faultMessage } from '../../support/fault-message.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const { cert, key } = COMPONENT_TLS;
const NEEDED = 'needed: "-----BEGIN CERTIFICATE-----" and so on';

describe('readCertificates', () => {
  const folder = temporaryFolder();
  const read = (text: string) => readCertificates(folder.write('ca.pem', text));

  const taken: readonly (readonly [kind: string, text: string])[] = [
    ['one certificate', cert],
    ['several', `${cert}${OTHER_TLS.cert}`],
    ['what openssl prints around one', `CONNECTED(00000003)\n---\nCertificate chain\n${cert}---\n`],
    ['line breaks of Windows', cert.replaceAll('\n', '\r\n')],
    ['a private key beside it', `${key}${cert}`],
  ];
  for (const [kind, text] of taken) it(`takes ${kind}`, () => expect(read(text)).to.equal(text));

  const damaged = cert.replace(/\n[A-Za-z0-9]{20}/, '\n!!!!!!!!!!!!!!!!!!!!');
  const refused: readonly (readonly [kind: string, text: string, fault: string])[] = [
    ['nothing', '', `ca.pem: holds nothing in PEM, ${NEEDED}`],
    ['a private key alone', key, `ca.pem: holds only PRIVATE KEY, ${NEEDED}`],
    ['half a certificate', cert.slice(0, 300), `ca.pem: holds nothing in PEM, ${NEEDED}`],
    ['a damaged certificate', damaged, 'ca.pem: certificate 1 is damaged'],
    ['a damaged one behind a good one', `${cert}${damaged}`, 'ca.pem: certificate 2 is damaged'],
  ];
  for (const [kind, text, fault] of refused)
    it(`refuses ${kind}, without showing it`, () =>
      expect(folder.bare(faultMessage('CONFIG_INVALID', () => read(text)))).to.equal(fault));
});
