// Tests the output of shm_dump for a segment, as text and as JSON lines.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { needs } from '../support/needs.js';
import { PROJECT } from '../support/processes.js';
import { SHOP, dumps } from './dumps.js';

/** Control and formatting characters, except for the line feed. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

describe('shm_dump', function () {
  this.slow(5000);
  const { programs, dump, run } = dumps();
  before(() => {
    programs.publish(SHOP);
  });
  const treeOf = (text: string): readonly string[] => text.split('\n\n')[1]?.split('\n') ?? [];
  const linesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('shows each object with its class and state, and each variable with its type and value', () => {
    const { status, stdout, stderr } = run('--server-key', '7');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(treeOf(stdout)).to.deep.equal([
      'h.1.shop  Shop  normal',
      '  version                   string          "1.0"',
      '  floor.a  Floor  dead',
      '    sold                    u64 counter pieces  42',
      '    large                   u64             18446744073709551615',
      '    low                     i64             -3',
      '    warm                    f64 gauge       21.5',
      '    open                    bool            true',
      '    late                    u64             (not synced)',
      '    wait                    histogram       4 observed, sum 2.5, ≤0.1: 3, >1: 1',
      '    size                    summary         9 observed, sum 18, 0.5: 2',
      '  floor.b  Floor  normal',
      '    "turn \\u202e\\u001b[31m"  string          "a\\u001b]0;x\\u0007\\u009b2Jb\\u2066"',
      `    long                    string          "${'x'.repeat(160)}"… (300 characters)`,
    ]);
    expect(stdout).to.match(/\n\n3 objects, 11 variables, 1 of them not synced\n$/);
  });

  it('shows the publisher of the segment, and the age of its last heartbeat', () => {
    const [heading = ''] = dump('--server-key', '7').stdout.split('\n\n');
    expect(heading.split('\n')).to.have.lengthOf(4);
    expect(heading).to.match(
      new RegExp(`^segment {4}${programs.contextId}\\.pool\\.7, generation [0-9a-f]+\n`),
    );
    expect(heading).to.include('\npublisher  live: publisher is live\n');
    expect(heading).to.match(
      new RegExp(`\nprocess {4}pid ${process.pid}, started \\S+ \\S+Z \\(.* ago\\)\n`),
    );
    expect(heading).to.match(/\nheartbeat {2}\d+ s ago$/);
  });

  it('marks the PID of a publisher in a container as a PID of another namespace', async function () {
    const namespaces = ['--pid', '--fork', '--kill-child'];
    const probe = spawnSync('unshare', [...namespaces, 'true']);
    needs(this, probe.status === 0, 'this process may not make namespaces');
    const simulator = join(PROJECT, 'dist/bin/shm_simulator.js');
    const words = ['--app', 'shop', '--server-key', 'box', '--context-id', programs.contextId];
    const program = programs.command([process.execPath, simulator, ...words], {
      // On the host, process 1 may be invisible even to root, so the publisher runs in its own PID namespace.
      under: ['unshare', ...namespaces, 'sh', '-c', '"$@" & wait', 'sh'],
    });
    await program.line(/^ready$/m);
    const seen = [dump('--server-key', 'box').stdout, dump('--server-key', 'box', '--json').stdout];
    expect(seen[0]).to.match(/^process {4}pid \d+ \(in another PID namespace\), started /m);
    expect(seen[1]).to.contain(',"other_pid_namespace":true,');
    await program.stop('SIGKILL');
  });

  it('prints with --json the same facts as JSON lines, with complete values', () => {
    const { stdout } = run('--server-key', '7', '--json');
    const [segment, root, version, ...rest] = linesOf(stdout);
    expect(segment).to.deep.include({ kind: 'segment', segment: `${programs.contextId}.pool.7` });
    expect(segment?.['dropped']).to.deep.equal({ objects: 0, variables: 0 });
    expect(segment?.['publisher']).to.deep.include({
      state: 'live',
      reason: 'publisher is live',
      pid: process.pid,
      other_pid_namespace: false,
    });
    expect(root).to.deep.equal({
      ...{ kind: 'object', id: 'h.1.shop', class: 'Shop', parent: null },
      ...{ synced: true, state: 'normal' },
      ...{ host: '', instance: '', application: '', as_of_unix_ms: null },
    });
    expect(version).to.deep.equal({
      ...{ kind: 'variable', object: 'h.1.shop', name: 'version', type: 'string' },
      ...{ declared: 'unknown', unit: '', help: '', synced: true, value: '1.0' },
    });
    expect(rest.at(0)).to.deep.equal({
      ...{ kind: 'object', id: 'h.1.shop.floor.a', class: 'Floor', parent: 'h.1.shop' },
      ...{ synced: true, state: 'dead' },
    });
    const values = rest.flatMap(({ name, value }) => (name === undefined ? [] : [[name, value]]));
    expect(values).to.deep.equal([
      ['sold', 42],
      ['large', '18446744073709551615'],
      ['low', -3],
      ['warm', 21.5],
      ['open', true],
      ['late', null],
      ['wait', { sum: 2.5, bounds: [0.1, 1], counts: [3, 0, 1] }],
      ['size', { count: 9, sum: 18, quantiles: [0.5], values: [2] }],
      ['turn \u202e\u001b[31m', 'a\u001b]0;x\u0007\u009b2Jb\u2066'],
      ['long', 'x'.repeat(300)],
    ]);
    expect(rest.find(({ name }) => name === 'sold')).to.deep.include({
      ...{ declared: 'counter', unit: 'pieces', help: 'Sales.', synced: true },
    });
    expect(rest.find(({ name }) => name === 'late')).to.deep.include({ synced: false });
    expect(rest.at(-1)).to.deep.equal({ kind: 'end', objects: 3, variables: 11, unsynced: 1 });
  });

  for (const format of [[], ['--json']])
    it(`prints no terminal control characters ${format.length > 0 ? `with ${format.join()}` : 'as text'}`, () =>
      expect(dump('--server-key', '7', ...format).stdout).not.to.match(UNSAFE));

  for (const id of ['h.1.shop.floor.b', 'floor.b'])
    it(`shows only the object with --object ${id}`, () => {
      const { stdout } = dump('--server-key', '7', '--object', id);
      expect(treeOf(stdout).map((line) => line.trim().split(' ')[0])).to.deep.equal([
        ...['floor.b', '"turn', 'long'],
      ]);
    });

  const searches: readonly (readonly [words: string, found: readonly string[]])[] = [
    ['SOLD', ['h.1.shop.floor.a', 'sold']],
    ['floor.b dead', []],
    ['dead', ['h.1.shop.floor.a']],
    ['floor 21.5', ['h.1.shop.floor.a', 'warm']],
    ['xxx', ['h.1.shop.floor.b', 'long']],
  ];
  for (const [words, found] of searches)
    it(`finds "${words}" in ids, classes, names and values`, () =>
      expect(
        linesOf(dump('--server-key', '7', '--json', '--search', words).stdout)
          .slice(1, -1)
          .map(({ id, name }) => name ?? id),
      ).to.deep.equal(found));

  it('suggests the nearest object if the id does not exist', () => {
    const { status, stdout, stderr } = dump('--server-key', '7', '--object', 'flor.a');
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.equal(
      'shm_dump: --object: there is no object "flor.a" (did you mean "floor.a"?)\n',
    );
  });
});
