// Tests the configuration file of the bridge: values, defaults, error messages and warnings.
import { expect } from 'chai';
import { keyOf } from '#app/rules/table.js';
import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { BRIDGE, COMPONENT as FIELDS } from '#app/bridge/settings/component-table.js';
import type { KeyReader } from '#app/bridge/settings/security-key.js';
import { tlsPath } from '../../support/component-certificates.js';
import { faultMessage } from '../../support/fault-message.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { COMPONENT, KEYS, load } from './bridge-files.js';

const NAME = 'a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."';
const ADDRESS = 'an address such as "http://127.0.0.1:8080", without a user name, "?" or "#"';
const SOURCE = '"file:" and a path, or "env:" and the name of an environment variable';
const ITEM = 'a string of 1 to 1024 characters in one line';
const LIST = 'an array of 1 to 64 different items, each a [[components]] table';

const allKeys = [...Object.keys(BRIDGE).map(keyOf), 'components'].join(', ');
const componentKeys = Object.keys(FIELDS).map(keyOf).join(', ');

const other = (name: string, url: string, key: string) =>
  `[[components]]\nname = "${name}"\nurl = "${url}"\nserver_key = "${key}"\n`;

describe('The configuration of the bridge', () => {
  const folder = temporaryFolder();
  const read = (toml: string, keys?: KeyReader) => load(folder.write('c.toml', toml), keys);
  const complaint = (toml: string, keys?: KeyReader) =>
    folder.bare(faultMessage('CONFIG_INVALID', () => read(toml, keys))).split('\n');
  const component = (lines: string, keys?: KeyReader) => {
    const [only] = read(`${COMPONENT}${lines}`, keys).components;
    if (only === undefined) throw new Error('There is no component');
    return only;
  };
  const warnings = (toml: string, keys?: KeyReader) =>
    read(toml, keys).warnings.map((line) => folder.bare(line));

  it('is not quoted in the message about a TOML syntax error, because it may contain a key', () =>
    expect(complaint(`${COMPONENT}security_key = "s3cret\n`)).to.deep.equal([
      'c.toml:5:23: expected the closing quote of the string, found the end of the line',
    ]));

  describe('with only the required keys', () => {
    it('has defaults for all other keys', () => {
      const { components, ...top } = read(COMPONENT);
      expect(top).to.deep.equal({
        contextId: 'shmApp',
        poolName: 'pool',
        host: 'here',
        logLevel: 'info',
        logFormat: 'text',
        warnings: [],
      });
      const [{ readKey, selection, ...plain } = component('')] = components;
      expect(readKey()).to.equal('');
      expect(selection).to.be.a('function');
      const defaults = Object.entries(FIELDS).map(([name, { fallback }]) => [name, fallback]);
      expect(plain).to.deep.equal({
        ...(Object.fromEntries(defaults) as object),
        name: 'a',
        url: 'http://127.0.0.1:8080',
        serverKey: '82',
        index: 0,
        endpoint: {
          url: new URL('http://127.0.0.1:8080/sharedmem'),
          tlsVerify: true,
          ca: undefined,
          deflate: false,
          connectTimeoutMs: 1000,
          maxBodyBytes: 67_108_864,
        },
      });
    });

    it('numbers components in the order of the file', () =>
      expect(
        read(`${COMPONENT}${other('b', 'http://b', '80')}`).components.map(
          ({ name, index }) => `${index} ${name}`,
        ),
      ).to.deep.equal(['0 a', '1 b']));
  });

  describe('accepts', () => {
    const rows: readonly (readonly [
      line: string,
      seen: (it: ReturnType<typeof component>) => unknown,
      wanted: unknown,
    ])[] = [
      ['interval_ms = 1000', ({ intervalMs }) => intervalMs, 1000],
      ['request_timeout_ms = 1500', ({ requestTimeoutMs }) => requestTimeoutMs, 1500],
      ['connect_timeout_ms = 100', ({ endpoint }) => endpoint.connectTimeoutMs, 100],
      ['max_back_off_ms = 9000', ({ maxBackOffMs }) => maxBackOffMs, 9000],
      ['stale_after = 1', ({ staleAfter }) => staleAfter, 1],
      ['lost_after = 4', ({ lostAfter }) => lostAfter, 4],
      ['deflate = "always"', ({ endpoint }) => endpoint.deflate, true],
      ['max_body_bytes = 1024', ({ endpoint }) => endpoint.maxBodyBytes, 1024],
      ['max_objects = 1', ({ maxObjects }) => maxObjects, 1],
      ['max_variables = 2', ({ maxVariables }) => maxVariables, 2],
      ['max_depth = 3', ({ maxDepth }) => maxDepth, 3],
      ['classes = ["A*"]', ({ classes }) => classes, ['A*']],
      ['exclude_classes = ["B"]', ({ excludeClasses }) => excludeClasses, ['B']],
      ['seed_paths = ["@root", "a.*.{b}"]', ({ seedPaths }) => seedPaths, ['@root', 'a.*.{b}']],
      ['exclude_variables = ["c"]', ({ excludeVariables }) => excludeVariables, ['c']],
    ];
    for (const [line, seen, wanted] of rows)
      it(line, () => expect(seen(component(line))).to.deep.equal(wanted));

    it('the top-level keys', () => {
      const log = 'log_level = "warning"\nlog_format = "json"\n';
      const top = `context_id = "c"\npool_name = "p"\nhost = "h-1.example"\n${log}`;
      const wanted = { contextId: 'c', poolName: 'p', host: 'h-1.example', logFormat: 'json' };
      expect(read(`${top}${COMPONENT}`)).to.include({ ...wanted, logLevel: 'warning' });
      expect(read(`${top}debug = true\n${COMPONENT}`)).to.include({ ...wanted, logLevel: 'debug' });
    });

    it('security_key from an environment variable', () => {
      const keys = { ...KEYS, environment: { ADS_KEY: 's3cret' } };
      expect(component('security_key = "env:ADS_KEY"', keys).securityKey).to.equal('s3cret');
    });

    it('security_key and ca_file relative to the configuration file', () => {
      chmodSync(folder.write('k', 's3cret\n'), 0o600);
      mkdirSync(folder.path('sub'));
      const pem = tlsPath('component.cert.pem');
      copyFileSync(pem, folder.path('sub/ca.pem'));
      const lines = 'security_key = "file:../k"\nca_file = "ca.pem"\n';
      const file = folder.write('sub/c.toml', `${other('a', 'https://h', '82')}${lines}`);
      const [only] = load(file).components;
      expect(only).to.include({ securityKey: 's3cret' });
      expect(only?.endpoint.ca).to.equal(readFileSync(pem, 'utf8'));
    });
  });

  describe('derives the address of the tree from the url', () => {
    const rows: readonly (readonly [base: string, address: string, isCompressed: boolean])[] = [
      ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/sharedmem', false],
      ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/sharedmem', false],
      ['http://localhost', 'http://localhost/sharedmem', false],
      ['http://[::1]:1', 'http://[::1]:1/sharedmem', false],
      ['https://ads1.example.com', 'https://ads1.example.com/sharedmem', true],
      ['http://ADS1:8080/rtds//', 'http://ads1:8080/rtds/sharedmem', true],
      ['http://h/a@b', 'http://h/a@b/sharedmem', true],
      ['http://h/sharedmemory', 'http://h/sharedmemory/sharedmem', true],
      ['http://10.1.2.3:65535', 'http://10.1.2.3:65535/sharedmem', true],
    ];
    for (const [base, address, isCompressed] of rows)
      it(`${base}, and requests ${isCompressed ? 'compressed' : 'uncompressed'} answers`, () => {
        const [{ endpoint } = component('')] = read(other('a', base, '82')).components;
        expect(endpoint.url.href).to.equal(address);
        expect(endpoint.deflate).to.equal(isCompressed);
      });
  });

  describe('is refused, with file, line and column, for', () => {
    const urls = (url: string, found: string) =>
      [
        `the address ${url}`,
        other('a', url, '82'),
        [`c.toml:3:7: components[0].url: found ${found}, allowed: ${ADDRESS}`],
      ] as const;
    const line = (kind: string, text: string, sentence: string) =>
      [
        kind,
        `${COMPONENT}${text}`,
        [
          `c.toml:5:${text.indexOf('=') + 3}: components[0].${text.split(' ')[0] ?? ''}: ${sentence}`,
        ],
      ] as const;

    const table: readonly (readonly [kind: string, toml: string, lines: readonly string[]])[] = [
      ['no component', '', [`c.toml:1:1: components: found nothing, needed: ${LIST}`]],
      [
        'an empty list of components',
        'components = []',
        [`c.toml:1:14: components: found an empty array, allowed: ${LIST}`],
      ],
      [
        'a table in place of an array of tables',
        COMPONENT.replace('[[components]]', '[components]'),
        [`c.toml:1:1: components: found a table (write [[components]]), allowed: ${LIST}`],
      ],
      [
        'a top-level key that belongs in a component',
        `server_key = "82"\n${COMPONENT}`,
        [`c.toml:1:1: server_key: unknown key, allowed: ${allKeys}`],
      ],
      [
        'a misspelt key',
        `${COMPONENT}intervall_ms = 1000`,
        ['c.toml:5:1: components[0].intervall_ms: unknown key (did you mean "interval_ms"?)'],
      ],
      [
        'an unknown key',
        `${COMPONENT}zzz = 1`,
        [`c.toml:5:1: components[0].zzz: unknown key, allowed: ${componentKeys}`],
      ],
      [
        'an empty component',
        '[[components]]',
        [
          `c.toml:1:1: components[0].name: found nothing, needed: ${NAME}`,
          `c.toml:1:1: components[0].url: found nothing, needed: ${ADDRESS}`,
          `c.toml:1:1: components[0].server_key: found nothing, needed: ${NAME}`,
        ],
      ],
      [
        'a server key that is a number',
        COMPONENT.replace('"82"', '82'),
        [`c.toml:4:14: components[0].server_key: found 82 (write "82"), allowed: ${NAME}`],
      ],
      [
        'a body size beyond the longest string of Node.js',
        `${COMPONENT}max_body_bytes = 536_870_912\n`,
        [
          `c.toml:${COMPONENT.split('\n').length}:18: components[0].max_body_bytes: found 536870912, allowed: an integer from 1024 to 535822336`,
        ],
      ],
      [
        'a name with a blank',
        COMPONENT.replace('"a"', '"a b"'),
        [`c.toml:2:8: components[0].name: found "a b", allowed: ${NAME}`],
      ],
      [
        'two components with the same name and the same server key',
        `${COMPONENT}${other('a', 'http://b', '82')}`,
        [
          'c.toml:6:8: components[1].name: repeats components[0].name; the two must differ',
          'c.toml:8:14: components[1].server_key: repeats components[0].server_key; the two must differ',
        ],
      ],
      [
        'a host with characters that are not allowed in an id',
        `host = "a b"\n${COMPONENT}`,
        [
          'c.toml:1:8: host: found "a b", allowed: a string of at most 255 letters, digits, "_", "-" and "."',
        ],
      ],
      urls('127.0.0.1:8080', '"127.0.0.1:8080"'),
      urls('ftp://h', '"ftp://h"'),
      urls('http:/h', '"http:/h"'),
      urls('http:///sharedmem', '"http:///sharedmem"'),
      urls('http://h:8080?key=s3cret', 'an address with "?" in it'),
      urls('http://h/#s3cret', 'an address with "#" in it'),
      urls(' http://h', '" http://h"'),
      urls('http://h/a b', '"http://h/a b"'),
      urls('http://h:99999', '"http://h:99999", whose host or port is invalid'),
      urls('http://h:0', '"http://h:0", whose host or port is invalid'),
      urls('http://1.2.3.4.5', '"http://1.2.3.4.5", whose host or port is invalid'),
      urls('http://[::1', '"http://[::1", whose host or port is invalid'),
      urls(
        'http://[fe80::1%25eth0]:80',
        '"http://[fe80::1%25eth0]:80", whose host has an IPv6 zone',
      ),
      urls(
        'http://h/sharedmem',
        '"http://h/sharedmem", which includes /sharedmem, the path that the bridge adds',
      ),
      urls(
        'http://h/sharedmem/',
        '"http://h/sharedmem/", which includes /sharedmem, the path that the bridge adds',
      ),
      urls(
        'http://h/sharedmem/print/users',
        '"http://h/sharedmem/print/users", which includes /sharedmem, the path that the bridge adds',
      ),
      urls('http://joe:s3cret@h', 'an address with "@" in it'),
      urls('joe:s3cret@h:8080', 'an address with "@" in it'),
      urls('http://joe:s3/cret@h', 'an address with "@" in it, whose host or port is invalid'),
      [
        'an address that is not a string',
        COMPONENT.replace('"http://127.0.0.1:8080"', '8080'),
        [`c.toml:3:7: components[0].url: found 8080, allowed: ${ADDRESS}`],
      ],
      line(
        'an interval below a second',
        'interval_ms = 999',
        'found 999, allowed: an integer from 1000 to 3600000',
      ),
      line(
        'an interval in seconds, as a float',
        'interval_ms = 5.0',
        'found 5.0, allowed: an integer from 1000 to 3600000',
      ),
      line(
        'an unknown word for deflate',
        'deflate = "yes"',
        'found "yes", allowed: "auto" or "always" or "never"',
      ),
      line(
        'classes that are not a list',
        'classes = "A"',
        `found "A" (write ["A"]), allowed: an array of at most 1024 items, each ${ITEM}`,
      ),
      line(
        'a lost_after that is not greater than stale_after',
        'lost_after = 3',
        'is 3, allowed: more than stale_after, which is 3',
      ),
      [
        'a stale_after greater than the default of lost_after',
        `${COMPONENT}stale_after = 20`,
        [
          'c.toml:1:1: components[0].lost_after: is 12, allowed: more than stale_after, which is 20',
        ],
      ],
      [
        'a duration beyond the maximum of a timer',
        `${COMPONENT}interval_ms = 60000\nlost_after = 35792`,
        [
          'c.toml:6:14: components[0].lost_after: is 35792, allowed: at most 35791 with an interval_ms of 60000',
        ],
      ],
      line(
        'a connect_timeout_ms greater than request_timeout_ms',
        'connect_timeout_ms = 2001',
        'is 2001, allowed: at most request_timeout_ms, which is 2000',
      ),
      [
        'a request_timeout_ms less than the default of connect_timeout_ms',
        `${COMPONENT}request_timeout_ms = 500`,
        [
          'c.toml:1:1: components[0].connect_timeout_ms: is 1000, allowed: at most request_timeout_ms, which is 500',
        ],
      ],
      [
        'invalid seed paths, each at its position',
        `${COMPONENT}seed_paths = ["a", "", "@rot", "b.{c", "{d~(}", "x"]`,
        [
          `c.toml:5:20: components[0].seed_paths[1]: found "", allowed: ${ITEM}`,
          'c.toml:5:24: components[0].seed_paths[2]: "@rot" is not a seed path, did you mean @root?',
          'c.toml:5:32: components[0].seed_paths[3]: "{c" has a stray brace, allowed: a name, {label} or {label~expression}',
          'c.toml:5:40: components[0].seed_paths[4]: "(" is not a valid expression for a label, allowed: letters, digits, _, - and character classes such as [0-9], with at most 2 of + * ?',
        ],
      ],
      [
        'all mistakes at once, in the order of the file',
        `debug = 1\n${COMPONENT}max_depth = 65\n${other('b', 'x', '82')}lost_after = 2\n[[component]]`,
        [
          'c.toml:1:9: debug (--debug): found 1 (write true), allowed: true or false',
          'c.toml:6:13: components[0].max_depth: found 65, allowed: an integer from 1 to 64',
          `c.toml:9:7: components[1].url: found "x", allowed: ${ADDRESS}`,
          'c.toml:12:1: component: unknown key (did you mean "components"?)',
        ],
      ],
    ];
    for (const [kind, toml, lines] of table)
      it(kind, () => expect(complaint(toml)).to.deep.equal(lines));

    it('the 65th component', () => {
      const many = (count: number) =>
        Array.from({ length: count }, (_, index) =>
          other(`n${index}`, `http://h${index}`, `${index}`),
        ).join('');
      expect(read(many(64)).components).to.have.lengthOf(64);
      expect(complaint(many(65))).to.deep.equal([
        `c.toml:1:1: components: found an array of 65, allowed: ${LIST}`,
      ]);
    });
  });

  describe('causes messages that', () => {
    const sources = ['s3cret', 'File:s3cret', ' file:s3cret', 'http://s3cret', 's3cret:file'];
    for (const source of sources)
      it(`do not show ${JSON.stringify(source)}, which may be a key`, () =>
        expect(complaint(`${COMPONENT}security_key = "${source}"`)).to.deep.equal([
          `c.toml:5:16: components[0].security_key: found a string without "file:" or "env:" at its start, allowed: ${SOURCE}`,
        ]));

    for (const key of ['12345678', '1.5', 'true', '2026-11-27', '["s3cret"]', '{ s3cret = 1 }'])
      it(`do not show the unquoted value ${key}, which may be a key`, () =>
        expect(complaint(`${COMPONENT}security_key = ${key}`)).to.deep.equal([
          `c.toml:5:16: components[0].security_key: found a value that is not a string, allowed: ${SOURCE}`,
        ]));

    const shown: readonly (readonly [toml: string, found: string])[] = [
      ['"file:"', '"file:"'],
      ['"file: /etc/key"', '"file: /etc/key"'],
      ['"env:"', '"env:"'],
      ['"env:ADS-KEY"', '"env:ADS-KEY"'],
      ['"env:1"', '"env:1"'],
      ['"file:a\\nb"', '"file:a\\nb"'],
    ];
    for (const [toml, found] of shown)
      it(`show ${toml}, which cannot be a key`, () =>
        expect(complaint(`${COMPONENT}security_key = ${toml}`)).to.deep.equal([
          `c.toml:5:16: components[0].security_key: found ${found}, allowed: ${SOURCE}`,
        ]));
  });

  describe('with mistakes in its file or in the files that it names', () => {
    it('reports all mistakes at once, each with its position', () => {
      chmodSync(folder.write('k', 'x'), 0o644);
      folder.write('ca.pem', 'no certificate');
      const toml = `${other('a', 'https://a', '1')}security_key = "file:k"\nca_file = "ca.pem"\n${other('b', 'https://b', '2')}security_key = "env:NO"\nca_file = "no.pem"`;
      expect(complaint(toml)).to.deep.equal([
        'c.toml:5:16: components[0].security_key: k: has mode 0644, allowed: access for its owner only, as after chmod 600',
        'c.toml:6:11: components[0].ca_file: ca.pem: holds nothing in PEM, needed: a certificate in PEM ("-----BEGIN CERTIFICATE-----")',
        'c.toml:11:16: components[1].security_key: the environment variable NO is not set',
        'c.toml:12:11: components[1].ca_file: no.pem: cannot be read: no such file or folder',
      ]);
    });

    it('reports mistakes of both kinds together', () => {
      const toml = `${other('a', 'https://a', '1')}security_key = "env:NO"\n${other('b', 'https://b', '2')}deflate = 1\nca_file = "no.pem"\n[[components]]\nname = "c"`;
      expect(complaint(toml)).to.deep.equal([
        'c.toml:5:16: components[0].security_key: the environment variable NO is not set',
        'c.toml:10:11: components[1].deflate: found 1, allowed: "auto" or "always" or "never"',
        'c.toml:11:11: components[1].ca_file: no.pem: cannot be read: no such file or folder',
        'c.toml:12:1: components[2].url: found nothing, needed: an address such as "http://127.0.0.1:8080", without a user name, "?" or "#"',
        'c.toml:12:1: components[2].server_key: found nothing, needed: a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."',
      ]);
    });

    it('reports that its file cannot be read', () =>
      expect(
        folder.bare(faultMessage('CONFIG_INVALID', () => load(folder.path('none.toml')))),
      ).to.equal('none.toml: cannot be read: no such file or folder'));
  });

  describe('causes a warning about', () => {
    const keys = { ...KEYS, environment: { K: 's3cret' } };
    const plain = other('a', 'http://ads1', '82');
    const secure = other('a', 'https://ads1', '82');
    const ca = `ca_file = "${tlsPath('component.cert.pem')}"\n`;
    const key = 'security_key = "env:K"\n';
    const rows: readonly (readonly [kind: string, toml: string, lines: readonly string[]])[] = [
      [
        'a key in clear text over the network',
        `${plain}${key}`,
        [
          'c.toml:3:7: components[0].url: sends the security key over the network as clear text; use https',
        ],
      ],
      [
        'a key that crosses the network, but not about a key that stays on this host',
        `${COMPONENT}${key}`,
        [],
      ],
      ['a key in clear text, but not about a key over https', `${secure}${key}${ca}`, []],
      [
        'TLS settings, which have no effect with http',
        `${plain}${ca}tls_verify = false`,
        [
          'c.toml:5:11: components[0].ca_file: has no effect with http',
          'c.toml:6:14: components[0].tls_verify: has no effect with http',
        ],
      ],
      [
        'https without verification of certificates',
        `${secure}${ca}tls_verify = false`,
        [
          'c.toml:6:14: components[0].tls_verify: any certificate is accepted: anyone between the bridge and the component can read the security key and forge values',
          'c.toml:5:11: components[0].ca_file: has no effect while tls_verify is false',
        ],
      ],
      [
        'a request timeout longer than the interval',
        `${COMPONENT}interval_ms = 1000`,
        [
          'c.toml:1:1: components[0].request_timeout_ms: is longer than interval_ms, so a slow answer makes the bridge skip polls',
        ],
      ],
      [
        'a request timeout longer than the interval, but not about an equal one',
        `${COMPONENT}interval_ms = 2000`,
        [],
      ],
      [
        'two components at the same address',
        `${COMPONENT}${other('b', 'http://127.0.0.1:8080/', '80')}`,
        [
          'c.toml:7:7: components[1].url: components[0] has the same address, so its tree is polled and published twice',
        ],
      ],
    ];
    for (const [kind, toml, lines] of rows)
      it(kind, () => expect(warnings(toml, keys)).to.deep.equal(lines));
  });
});
