// Web configuration files: their settings, and the messages about mistakes.
import { expect } from 'chai';
import { hashSync } from 'bcryptjs';
import { readFileSync } from 'node:fs';
import { readWebConfig } from '#app/web-config/web-config.js';
import { tlsPath } from '../support/component-certificates.js';
import { faultMessage } from '../support/fault-message.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('readWebConfig', () => {
  const folder = temporaryFolder();
  const read = (text: string) => readWebConfig(folder.write('web.yml', text));
  const refused = (text: string) =>
    faultMessage('CONFIG_INVALID', () => read(text)).replaceAll(folder.path('web.yml'), 'web.yml');
  const pair = `  cert_file: ${tlsPath('component.cert.pem')}\n  key_file: ${tlsPath('component.key.pem')}\n`;
  const tls = (more = '') => `tls_server_config:\n${pair}${more}`;
  const ca = `  client_ca_file: ${tlsPath('client-ca.cert.pem')}\n`;
  const hash = hashSync('secret', 4);

  it('enables no protection for an empty file', () =>
    expect(read('')).to.deep.include({ tls: null, headers: {}, users: new Map() }));

  it('reads TLS, client certificates, headers and users', () => {
    const config = read(
      tls(
        `  client_auth_type: RequireAndVerifyClientCert\n${ca}  client_allowed_sans: [a.example]\n` +
          '  min_version: TLS13\n  cipher_suites: [TLS_AES_128_GCM_SHA256]\n  curve_preferences: [X25519]\n',
      ) +
        'http_server_config:\n  http2: true\n  headers:\n    X-Frame-Options: deny\n' +
        `basic_auth_users:\n  alice: ${hash}\n`,
    );
    expect(config.tls?.options).to.include({
      minVersion: 'TLSv1.3',
      maxVersion: 'TLSv1.3',
      ciphers: 'TLS_AES_128_GCM_SHA256',
      ecdhCurve: 'X25519',
      honorCipherOrder: true,
    });
    expect(config.tls).to.deep.include({
      clientAuth: 'RequireAndVerifyClientCert',
      allowedSans: ['a.example'],
    });
    expect(config.headers).to.deep.equal({ 'X-Frame-Options': 'deny' });
    expect([...config.users]).to.deep.equal([['alice', hash]]);
    expect(config.files).to.deep.equal([
      folder.path('web.yml'),
      ...['component.cert.pem', 'component.key.pem', 'client-ca.cert.pem'].map(tlsPath),
    ]);
  });

  it('reads certificates and keys that are in the web configuration itself', () => {
    const file = (name: string) => readFileSync(tlsPath(name), 'utf8');
    const block = (name: string) => `|\n${file(name).replaceAll(/^/gm, '    ').trimEnd()}\n`;
    const config = read(
      `tls_server_config:\n  cert: ${block('component.cert.pem')}  key: ${block('component.key.pem')}` +
        `  client_auth_type: RequireAndVerifyClientCert\n  client_ca: ${block('client-ca.cert.pem')}`,
    );
    expect(config.tls?.options).to.include({
      cert: file('component.cert.pem'),
      key: file('component.key.pem'),
      ca: file('client-ca.cert.pem'),
    });
    expect(config.files).to.deep.equal([folder.path('web.yml')]);
  });

  it('rejects an invalid key, and does not show the key', () => {
    const message = refused('tls_server_config: {cert: x, key: hunter2}');
    expect(message).to.match(/tls_server_config\.key: found something else, allowed: text in PEM/);
    expect(message).not.to.contain('hunter2');
  });

  for (const text of [
    'hunter2',
    '12345678',
    'bob:hunter2',
    'basic_auth_users: 12345678',
    'basic_auth_users:\n  bob: hunter2',
    'basic_auth_users:\n  "bob:hunter2": ""',
    'basic_auth_users:\n  12345678.5: x',
  ])
    it(`does not show a possible password in the message about ${JSON.stringify(text)}`, () =>
      expect(refused(text))
        .to.match(/found (something else|no hash, perhaps the password itself), /)
        .and.not.match(/hunter2"|"bob|found 1/));

  const rates = [
    ['{}', 0, 1],
    ['{interval: 0}', 0, 1],
    ['{interval: "0"}', 0, 1],
    ['{interval: 100ms, burst: 20}', 100, 20],
    ['{interval: 1s}', 1000, 1],
    ['{interval: 1m30s}', 90_000, 1],
    ['{interval: 1.5s}', 1500, 1],
    ['{interval: 2h, burst: 3}', 7_200_000, 3],
    ['{interval: 250us}', 0.25, 1],
    ['{interval: 250\u00b5s}', 0.25, 1],
    ['{interval: 250\u03bcs}', 0.25, 1],
    ['{interval: .5s}', 500, 1],
    ['{interval: 2.s}', 2000, 1],
    ['{interval: +1s}', 1000, 1],
  ] as const;
  for (const [text, intervalMs, burst] of rates)
    it(`reads a rate limit: ${text}`, () =>
      expect(read(`rate_limit: ${text}`).rate).to.deep.equal({ interval: intervalMs, burst }));

  it('translates cipher suites to names that OpenSSL knows', () => {
    const names = ['RSA', 'ECDSA'].flatMap((key) =>
      ['AES_128_GCM_SHA256', 'AES_256_GCM_SHA384', 'CHACHA20_POLY1305_SHA256'].map(
        (rest) => `TLS_ECDHE_${key}_WITH_${rest}`,
      ),
    );
    expect(read(tls(`  cipher_suites: [${names.join(', ')}]\n`)).tls?.options.ciphers)
      .to.match(/^[A-Z0-9:-]+$/)
      .and.include('ECDHE-RSA-CHACHA20-POLY1305');
  });

  it('resolves paths from the folder of the web configuration, and reports the position of an unreadable path', () =>
    expect(refused('tls_server_config:\n  cert_file: gone.pem\n  key_file: gone.key')).to.equal(
      `web.yml:2:14: tls_server_config.cert_file: ${folder.path('gone.pem')}: cannot be read: no such file or folder`,
    ));

  const AUTH = '  client_auth_type: ';
  const table: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    [
      'an unknown key',
      'basic_auth_user: {}',
      /^web\.yml:1:1: basic_auth_user: unknown key.*basic_auth_users/,
    ],
    [
      'a header that the format does not have',
      'http_server_config: {headers: {X-Frame-Option: deny}}',
      /^web\.yml:1:\d+: http_server_config\.headers\.X-Frame-Option: unknown key.*X-Frame-Options/,
    ],
    [
      'a header with a line break',
      'http_server_config: {headers: {X-Frame-Options: "a\\nb"}}',
      /printable/,
    ],
    [
      'TLS without a certificate',
      'tls_server_config: {min_version: TLS13}',
      /needs cert_file and key_file/,
    ],
    [
      'an unknown version',
      tls('  min_version: TLS10\n'),
      /^web\.yml:4:16: .*min_version: found "TLS10".*"TLS12" or "TLS13"/,
    ],
    [
      'a minimum version above the maximum version',
      tls('  min_version: TLS13\n  max_version: TLS12\n'),
      /TLS13 is above TLS12/,
    ],
    [
      'a certificate file without a certificate',
      tls().replace('component.cert.pem', 'README.md'),
      /^web\.yml:2:14: tls_server_config\.cert_file: \S+: holds nothing in PEM, needed: a certificate in PEM \("-----BEGIN CERTIFICATE-----"\)$/,
    ],
    [
      'a key file without a key',
      tls().replace('component.key.pem', 'README.md'),
      /has no private key in PEM/,
    ],
    [
      'a key of another certificate',
      tls().replace('component.key.pem', 'other.key.pem'),
      /^web\.yml:3:13: tls_server_config\.key_file: \S+other\.key\.pem does not belong to the certificate in \S+component\.cert\.pem$/,
    ],
    [
      'client verification without client_ca_file',
      tls(`${AUTH}RequireAndVerifyClientCert\n`),
      /needs client_ca_file/,
    ],
    [
      'client_ca_file without client verification',
      tls(ca),
      /needs a client_auth_type that verifies/,
    ],
    [
      'client_allowed_sans without client verification',
      tls('  client_allowed_sans: [a]\n'),
      /needs a client_auth_type that verifies/,
    ],
    ['a name with a colon', `basic_auth_users: {"a:b": ${hash}}`, /allowed: a name/],
    [
      'a certificate beside a certificate file',
      tls('  cert: "-----BEGIN CERTIFICATE-----"\n'),
      /has both cert and cert_file/,
    ],
    [
      'a time without a unit',
      'rate_limit: {interval: 5}',
      /rate_limit\.interval: found 5, .*"1\.5s"/,
    ],
    ['a negative time', 'rate_limit: {interval: -1s}', /rate_limit\.interval: found "-1s"/],
    ['a burst of 0', 'rate_limit: {burst: 0}', /rate_limit\.burst: found 0, allowed: an integer/],
    ['several problems at once', 'a: 1\nb: 2', /^web\.yml:1:1: a: .*\nweb\.yml:2:1: b: /],
  ];
  for (const [what, text, message] of table)
    it(`rejects ${what}`, () => expect(refused(text)).to.match(message));

  const secrets = {
    'a hash in place of a key': `${hash}: alice`,
    'a hash below a wrong key': `users: {${hash}: alice}`,
    'a hash in place of a name': `basic_auth_users: {${hash}: alice}`,
    'a hash in place of the users': `basic_auth_users: ${hash}`,
    'a password in place of the users': 'basic_auth_users: hunter2',
    'a password that was pasted between the users': 'basic_auth_users: {}\nhunter2: alice',
    'a key in place of its file': 'tls_server_config: {key_file: "-----BEGIN KEY-----\nhunter2"}',
    'a hash in place of a time': `rate_limit: {interval: ${hash}}`,
  };
  for (const [what, text] of Object.entries(secrets))
    it(`rejects ${what}, and does not show its text`, () =>
      expect(refused(text))
        .to.match(/^web\.yml:\d+:\d+: /)
        .and.not.contain('hunter2')
        .and.not.contain(hash.slice(0, 7)));

  for (const [text, isTrue] of [
    ...(['y', 'Yes', 'YES', 'on', 'On', 'true'] as const).map((each) => [each, true] as const),
    ...(['n', 'no', 'NO', 'off', 'Off', 'false'] as const).map((each) => [each, false] as const),
  ])
    it(`reads ${JSON.stringify(text)} as ${isTrue}, as other exporters do`, () => {
      const { tls: read_ } = read(
        `http_server_config: {http2: ${text}}\n${tls(`  prefer_server_cipher_suites: ${text}\n`)}`,
      );
      expect(read_?.options.honorCipherOrder).to.equal(isTrue);
    });

  it('accepts numbers and booleans in place of strings, as other exporters do', () => {
    for (const [value, is] of [
      ['0', '0'],
      ['1.5', '1.5'],
      ['true', 'true'],
    ] as const)
      expect(
        read(`http_server_config: {headers: {X-XSS-Protection: ${value}}}`).headers,
      ).to.deep.equal({ 'X-XSS-Protection': is });
    expect(refused('tls_server_config: {cert_file: 12, key_file: 13}')).to.match(
      /cert_file: .*\/12: cannot be read/,
    );
  });

  it('ignores empty sections, as other exporters do', () =>
    expect(
      read('tls_server_config: {}\nhttp_server_config: {}\nbasic_auth_users: {}\nrate_limit: {}\n'),
    ).to.include({ tls: null }));

  for (const [what, value, found] of [
    ['a password', 'hunter2', 'no hash, perhaps the password itself'],
    ['a line of htpasswd', `alice:${hash}`, 'a name before the hash'],
    [
      'a hash that takes minutes to compare',
      hash.replace('$04$', '$31$'),
      'a bcrypt hash with another cost',
    ],
    ['a part of a hash', hash.slice(0, 40), 'an incomplete bcrypt hash'],
    ['a hash by MD5', '$apr1$hunter2$hunter2', 'a hash of another kind'],
    ['a hash by SHA-1', '{SHA}hunter2', 'a hash of another kind'],
  ] as const)
    it(`rejects ${what} in place of a bcrypt hash, and does not show its text`, () => {
      const message = refused(`basic_auth_users:\n  alice: "${value}"`);
      expect(message).to.match(
        /^web\.yml:2:10: basic_auth_users\.alice: found .*, allowed: .*htpasswd/,
      );
      expect(message).to.contain(`found ${found}, `);
      expect(message).not.to.contain('hunter2').and.not.to.contain(hash.slice(0, 12));
    });

  for (const name of ['cert', 'key', 'client_ca'])
    it(`rejects a path in ${name}, and names ${name}_file`, () =>
      expect(refused(`tls_server_config: {${name}: c.pem}`)).to.match(
        new RegExp(`found something else, allowed: text in PEM; .* belongs to ${name}_file$`),
      ));

  it('names the certificate that must come first in the file if the key belongs to a later one', () => {
    const pem = (name: string) => readFileSync(tlsPath(`${name}.cert.pem`), 'utf8');
    folder.write('chain.pem', pem('other') + pem('component'));
    expect(refused(tls().replace(tlsPath('component.cert.pem'), 'chain.pem'))).to.match(
      /component\.key\.pem does not belong to the first certificate, but to a later one, in \S+chain\.pem$/,
    );
  });
});
