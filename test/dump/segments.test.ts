// Tests the output of shm_dump for missing, damaged and unreadable segments.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HEADER } from '#app/native/segment/layout.js';
import { isRoot } from '../support/needs.js';
import { PROJECT } from '../support/processes.js';
import { freshSegments } from '../support/segments.js';
import { SHOP, dumpOf, dumps } from './dumps.js';

describe('shm_dump of a segment', function () {
  this.slow(5000);
  const { programs, dump, run } = dumps();
  const fileOf = (key: string) => `/dev/shm/${programs.contextId}.pool.${key}`;
  const refused = (key: string, sentence: RegExp | string) => {
    const { status, stdout, stderr } = dump('--server-key', key);
    expect({ status, stdout }).to.deep.equal({ status: 4, stdout: '' });
    expect(stderr).to.match(/^shm_dump: [^\n]*\n$/);
    if (typeof sentence === 'string') expect(stderr).to.include(sentence);
    else expect(stderr).to.match(sentence);
  };

  it('that does not exist suggests the nearest name, and lists the existing segments', () => {
    programs.publish({ ...SHOP, server_key: 'shop_1' });
    const name = `${programs.contextId}.pool.shop_`;
    refused('shop_2', `no segment ${name}2 in /dev/shm, did you mean ${name}1? (there are: `);
    refused('elsewhere', `${name}1`);
    expect(dump('--server-key', 'shop_1', '--pool-name', 'other').stderr)
      .to.include(`no segment ${programs.contextId}.other.shop_1 in /dev/shm`)
      .and.match(
        /; --context-id and --pool-name set the start of the name, before the server key\n$/,
      );
    const { status, stdout, stderr } = run('--server-key', 'shop_2');
    expect({ status, stdout }).to.deep.equal({ status: 4, stdout: '' });
    expect(stderr)
      .to.match(/^shm_dump: no segment [^\n]*\n$/)
      .and.not.include('--context-id');
  });

  describe('whose publisher was killed', () => {
    before(async () => {
      const simulator = await programs.simulatorOf({ ...SHOP, server_key: 'dead' });
      await simulator.stop('SIGKILL');
    });

    it('shows the last values and the state dead', () => {
      const { status, stdout, stderr } = dump('--server-key', 'dead');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(stdout).to.include(
        '\npublisher  dead: publisher died without closing; these are its last values\n',
      );
      expect(stdout).to.match(/\n {4}sold +u64 counter pieces {2}42\n/);
      const [line = ''] = dump('--server-key', 'dead', '--json').stdout.split('\n');
      expect(line).to.include('"publisher":{"state":"dead","reason":"publisher died without');
    });

    it('does not modify the segment, and needs no write permission', () => {
      // The publisher has no heartbeat, so only shm_dump could change the segment.
      const bytes = readFileSync(fileOf('dead'));
      chmodSync(fileOf('dead'), 0o444);
      expect(run('--server-key', 'dead').status).to.equal(0);
      expect(readFileSync(fileOf('dead')).equals(bytes)).to.equal(true);
    });
  });

  const damages: readonly (readonly [
    what: string,
    damage: (file: string, bytes: Buffer) => void,
    sentence: string,
  ])[] = [
    [
      'of another format',
      (file) => writeFileSync(file, Buffer.alloc(8192)),
      ': Segment is of another format: its magic is 0000000000000000, not 53484d4558500d0a',
    ],
    [
      'with a damaged header',
      (file, bytes) => {
        bytes.writeUInt32LE(7, HEADER.pid);
        writeFileSync(file, bytes);
      },
      ": Segment is corrupt: the header's CRC is",
    ],
    [
      'that is truncated',
      (file) => truncateSync(file, 100),
      ': Segment is corrupt: the header has 100',
    ],
    [
      'whose directory is damaged',
      (file, bytes) => {
        bytes.fill(255, 4096, 8192);
        writeFileSync(file, bytes);
      },
      ': Segment is corrupt: ',
    ],
  ];
  for (const [what, damage, sentence] of damages)
    it(`${what} names the segment and the damage`, () => {
      const published = programs.publish({ ...SHOP, server_key: 'damaged' });
      const copy = fileOf('copy');
      try {
        const bytes = readFileSync(fileOf('damaged'));
        writeFileSync(copy, bytes);
        damage(copy, bytes);
        refused('copy', `${programs.contextId}.pool.copy${sentence}`);
      } finally {
        rmSync(copy);
        published.close();
      }
    });

  it('that is unreadable reports the missing permission', () => {
    programs.publish({ ...SHOP, server_key: 'secret' });
    chmodSync(fileOf('secret'), 0);
    // Root may read every file, unless it lacks these two capabilities.
    const bound = isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
    const [program = '', ...words] = [
      ...[...bound, process.execPath, join(PROJECT, 'dist/bin/shm_dump.js')],
      ...['--context-id', programs.contextId, '--server-key', 'secret'],
    ];
    const { status, stderr } = spawnSync(program, words, { encoding: 'utf8' });
    const { uid, gid } = statSync(fileOf('secret'));
    expect({ status, stderr }).to.deep.equal({
      status: 4,
      stderr: `shm_dump: Segment ${fileOf('secret')} exists, but this process may not read it (EACCES): it belongs to user ${uid}, group ${gid}, and has mode 0000\n`,
    });
  });
});

describe('shm_dump of a large tree', function () {
  this.slow(20_000);
  const { programs } = dumps();
  before(() => {
    programs.simulate('--app', 'big', '--server-key', 'big', '--objects', '5000', '--rate', '0');
  });
  /** Runs shm_dump in a shell with the option pipefail. `rest` follows the command. */
  const shell = (rest: string) => {
    const words = `--context-id ${programs.contextId} --server-key big`;
    const line = `"$0" dist/bin/shm_dump.js ${words} ${rest}`;
    return spawnSync('bash', ['-o', 'pipefail', '-c', line, process.execPath], {
      ...{ encoding: 'utf8', cwd: PROJECT, maxBuffer: 1 << 28 },
    });
  };

  it('ends without an error when its output pipe is closed', () => {
    const { status, stdout, stderr } = shell('| head -2 | wc -l');
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '2\n', stderr: '' });
  });

  it('prints all lines to a slow reader', () => {
    const lines = shell('--json | (sleep 0.5; cat)').stdout.trim().split('\n');
    const { objects, variables } = JSON.parse(lines.at(-1) ?? '') as Record<string, number>;
    expect(objects).to.be.at.least(4900);
    expect(lines).to.have.lengthOf((objects ?? 0) + (variables ?? 0) + 2);
  });
});

describe('shm_dump of a publisher', function () {
  this.slow(5000);
  const segments = freshSegments();
  const dump = (...args: readonly string[]) =>
    dumpOf('--context-id', segments.contextId, '--server-key', '1', ...args);

  it('with as-of times shows these times', () => {
    const publisher = segments.publish('1');
    const root = publisher.addRoot('h.1.shop', 'Shop', {
      identity: { host: 'h', instance: '1', application: 'shop' },
    });
    publisher.setAsOf(root, BigInt(Date.UTC(2026, 0, 5, 8)) * 1_000_000n);
    expect(dump().stdout).to.match(
      /\nh\.1\.shop {2}Shop {2}normal {2}values of 2026-01-05 08:00:00Z \(.* ago\)\n/,
    );
    const [, line = ''] = dump('--json').stdout.split('\n');
    expect(JSON.parse(line)).to.deep.include({
      ...{ host: 'h', instance: '1', application: 'shop' },
      as_of_unix_ms: Date.UTC(2026, 0, 5, 8),
    });
  });

  it('with dropped items reports their count', () => {
    const publisher = segments.publish('1');
    const root = publisher.addRoot('h.1.shop', 'Shop');
    for (let i = 0; i < 100; i++) publisher.addVariable(root, `v${i}`, 'u64');
    expect(dump().stdout).to.match(/\nno room {4}for 0 objects and \d+ variables\n/);
  });

  it('without variables drafts no catalogue, and explains why', () => {
    segments.publish('1').addRoot('h.1.shop', 'Shop');
    const { status, stdout, stderr } = dump('--catalogue', '--search', 'till');
    expect({ status, stdout, stderr }).to.deep.equal({
      status: 2,
      stdout: '',
      stderr: 'shm_dump: --catalogue: there is no object for which to draft a catalogue\n',
    });
  });
});
