// Tests shm_bridge as a process: output, published segments and exit statuses.
import { expect } from 'chai';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseScenario } from '#app/simulator/scenario.js';
import { freshComponents, treeOf } from '../support/component/components.js';
import { freePort } from '../support/free-port.js';
import { PROJECT, waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';

const SECRET = 's3cret-of-ads';
const OBJECTS = [
  {
    id: 'h.1.ads',
    class: 'ManagedProcess.SinkDist',
    variables: { processID: { type: 'i64', value: 7 }, version: { type: 'string', value: '3' } },
  },
  {
    id: 'h.1.ads.users',
    parent: 'h.1.ads',
    class: 'Users',
    variables: { total: { type: 'u64', kind: 'gauge', value: 4 } },
  },
];

describe('shm_bridge', function () {
  this.slow(3000);
  const programs = testPrograms();
  const serving = freshComponents();
  const served = async (securityKey?: string) =>
    (await serving({ securityKey }, treeOf({ objects: OBJECTS }))).url;
  /** Returns a URL where no server listens. */
  const deadUrl = async () => `http://127.0.0.1:${await freePort()}`;
  const component = (name: string, url: string, more = '') =>
    `[[components]]\nname = "${name}"\nurl = "${url}"\nserver_key = "${name}"\n${more}`;
  const file = (...components: readonly string[]) =>
    programs.write('bridge.toml', `context_id = "${programs.contextId}"\n${components.join('')}`);
  const keyFile = (key: string) => {
    const path = programs.write('ads.key', `${key}\n`);
    chmodSync(path, 0o600);
    return `security_key = "file:${path}"\n`;
  };
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = programs.run('bridge', ...args);
    return { status, stdout, stderr };
  };
  /** Like `run`, but asynchronous, so that this process can answer requests. */
  const ended = async (...args: readonly string[]) => {
    const bridge = programs.start('bridge', args);
    const { status } = await bridge.ended;
    return { status, stdout: bridge.stdout, stderr: bridge.stderr };
  };

  it('logs in the configured format, at the configured level and above, with the component as a field', async () => {
    const config = file(component('a', await deadUrl()));
    const words = ['--config', config, '--log-format', 'json', '--log-level', 'warning'];
    const bridge = programs.start('bridge', words);
    const [line] = await bridge.line(/^.*no tree.*$/m);
    expect(JSON.parse(line)).to.include({ level: 'warning', component: 'a', server_key: 'a' });
    await bridge.stop();
    for (const text of bridge.stderr.trimEnd().split('\n'))
      expect(JSON.parse(text)).to.include.keys('time', 'msg').and.not.include({ level: 'info' });
  });

  it('is an executable of the package', () => {
    const { bin } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };
    expect(bin['shm_bridge']).to.equal('dist/bin/shm_bridge.js');
    expect(readFileSync(join(PROJECT, 'dist/bin/shm_bridge.js'), 'utf8')).to.match(
      /^#!\/usr\/bin\/env -S node /,
    );
  });

  it('exits with status 2 and one line if the configuration file does not exist', () =>
    expect(run('--config', '/no/such.toml')).to.deep.equal({
      status: 2,
      stdout: '',
      stderr: 'shm_bridge: /no/such.toml: cannot be read: no such file or folder\n',
    }));

  describe('with --check-config', () => {
    it('reports that a file is valid, after the warnings about the file', async () => {
      const url = await served();
      const one = file(component('a', url), component('b', url));
      expect(run('--config', one, '--check-config')).to.deep.equal({
        status: 0,
        stdout:
          `warning: ${one}:8:7: components[1].url: components[0] has the same address, so its tree is polled and published twice\n` +
          'configuration is valid\n',
        stderr: '',
      });
    });

    it('reports all mistakes, prints no key, and exits with status 2', () => {
      const keyed = component('a', 'http://ads1.example', keyFile(`${SECRET} `));
      const other = component('b', 'https://ads2.example', 'ca_file = "/no/such.pem"\n');
      const { status, stdout, stderr } = run('--config', file(keyed, other), '--check-config');
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(
        /^shm_bridge: \S+:\d+:\d+: components\[0\]\.security_key: .* starts or ends with a blank.*\n\S+:\d+:\d+: components\[1\]\.ca_file: .*\n$/,
      );
      expect(stderr).not.to.include(SECRET);
    });
  });

  describe('with --once', () => {
    it('prints the trees as a scenario, publishes no segment, and exits', async () => {
      const one = file(component('a', await served(SECRET), keyFile(SECRET)));
      const { status, stdout, stderr } = await ended('--config', one, '--once');
      expect(status).to.equal(0);
      const { serverKey, contextId, objects } = parseScenario(stdout, 'stdout');
      expect({ serverKey, contextId }).to.deep.equal({
        serverKey: 'a',
        contextId: programs.contextId,
      });
      expect(objects.map(({ id, variables }) => `${id} ${variables.length}`)).to.deep.equal([
        'h.1.ads 2',
        'h.1.ads.users 1',
      ]);
      expect(stderr).to.match(/^a: http:\S+\/sharedmem: 2 objects, 3 variables; \d+ bytes over/);
      expect(stderr).to.include(
        '\na: to be published under server key a: 2 objects, 3 variables\n',
      );
      expect(stdout + stderr).not.to.include(SECRET);
      expect(programs.segments()).to.deep.equal([]);
    });

    it('exits with status 1 if a component returns no tree, prints the other trees, and never prints a key', async () => {
      const dead = await deadUrl();
      const several = file(
        component('a', dead),
        component('b', await served(), 'classes = ["Users", "Usrs"]\n'),
        component('c', await served('another'), keyFile(SECRET)),
      );
      const { status, stdout, stderr } = await ended('--config', several, '--once');
      expect(status).to.equal(1);
      expect(parseScenario(stdout, 'stdout').serverKey).to.equal('b');
      expect(stderr).to.include(`a: ${dead}/sharedmem: no tree (refused): connect ECONNREFUSED `);
      expect(stderr).to.include('\nb: classes: "Usrs" matches nothing in this tree\n');
      expect(stderr).to.match(
        /^c: .*: no tree \(unauthorized\): status 401: security_key is wrong$/m,
      );
      expect(stderr).not.to.include(SECRET);
    });

    it('rejects a --component that the configuration file does not have', () => {
      const two = file(component('a', 'http://h1'), component('b', 'http://h2'));
      expect(run('--config', two, '--once', '--component', 'c')).to.deep.equal({
        status: 2,
        stdout: '',
        stderr: 'shm_bridge: --component: found "c", allowed: "a" or "b"\n',
      });
    });

    it('ends without an error when its output pipe is closed', async () => {
      const many = Array.from({ length: 4000 }, (_, index) => ({
        id: `h.1.ads.a-rather-long-name-of-an-object.${index}`,
        class: 'Users',
      }));
      const { url } = await serving({}, treeOf({ objects: many }));
      const one = file(component('a', url));
      const bridge = [process.execPath, join(PROJECT, 'dist/bin/shm_bridge.js')];
      const words = [...bridge, '--config', one, '--once'];
      const pipe = programs.command([
        'bash',
        '-c',
        'set -o pipefail; "$@" | head -c 1',
        '-',
        ...words,
      ]);
      expect((await pipe.ended).status).to.equal(0);
      expect(pipe.stdout).to.equal('{');
      expect(pipe.stderr).not.to.include('EPIPE');
    });
  });

  describe('while it runs', () => {
    const begun = (bridge: Running) => bridge.line(/ info a: received its tree: 2 objects, /);

    for (const [signal, umask, mode] of [
      ['SIGTERM', 0o022, 0o644],
      ['SIGINT', 0o077, 0o600],
      ['SIGHUP', 0o027, 0o640],
    ] as const)
      it(`publishes segments with mode ${mode.toString(8)} under umask 0${umask.toString(8)}, and removes them at ${signal}`, async () => {
        const one = file(component('a', await served()));
        const before = process.umask(umask);
        const bridge = programs.start('bridge', ['--config', one]);
        process.umask(before);
        await begun(bridge);
        const segment = `${programs.contextId}.pool.a`;
        expect(programs.segments()).to.deep.equal([segment]);
        expect(statSync(`/dev/shm/${segment}`).mode & 0o777).to.equal(mode);
        expect(await bridge.stop(signal)).to.deep.equal({ status: 0, signal: null });
        expect(bridge.stderr).to.match(new RegExp(` info ${signal}: ending\n$`));
        expect(bridge.stdout).to.equal('');
        expect(programs.segments()).to.deep.equal([]);
      });

    it('logs its warnings and, with --debug, every poll, but never the key, and opens no debugger at SIGUSR1', async () => {
      const url = await served(SECRET);
      const lines = `${keyFile(SECRET)}interval_ms = 1000\nca_file = ""\ntls_verify = false\n`;
      const one = file(component('a', url, lines));
      const bridge = programs.start('bridge', ['--config', one, '--debug']);
      await begun(bridge);
      await bridge.line(/ debug a: 2 objects, 3 variables, \d+ bytes in \d+ ms; 0 values changed/);
      const polls = () => bridge.stderr.match(/ debug /g)?.length ?? 0;
      const before = polls();
      bridge.signal('SIGUSR1');
      await waitFor('it polls again', () => (polls() > before ? true : undefined));
      expect((await bridge.stop()).status).to.equal(0);
      expect(bridge.stderr).to.match(
        /^\S+ warning \S+: components\[0\]\.tls_verify: has no effect with http\n/,
      );
      expect(bridge.stderr)
        .not.to.include(SECRET)
        .and.not.match(/debugger/i);
    });

    it('publishes only the component of --component', async () => {
      const two = file(component('a', await served()), component('b', await deadUrl()));
      const bridge = programs.start('bridge', ['--config', two, '--component', 'a']);
      await begun(bridge);
      expect(programs.segments()).to.deep.equal([`${programs.contextId}.pool.a`]);
      await bridge.stop();
      expect(bridge.stderr).not.to.include(' b: ');
    });

    it('warns once while another bridge publishes the segment, and publishes the segment itself when that bridge ends', async () => {
      const [one, url] = [file(component('a', await served())), await served()];
      const bridge = programs.start('bridge', ['--config', one]);
      await begun(bridge);
      const two = file(component('b', url), component('a', url));
      const successor = programs.start('bridge', ['--config', two]);
      const path = `/dev/shm/${programs.contextId}.pool.a`;
      const waiting = ` warning a: another publisher holds ${path} (process ${bridge.pid}); this publisher takes the key once it is free\n`;
      await waitFor('the warning', () => successor.stderr.includes(waiting) || undefined);
      const held = statSync(path).ino;
      await bridge.stop();
      const isTaken = () => statSync(path, { throwIfNoEntry: false })?.ino;
      await waitFor('the segment', () =>
        ![undefined, held].includes(isTaken()) ? true : undefined,
      );
      expect(successor.stderr.split(waiting)).to.have.lengthOf(2);
      await successor.line(new RegExp(` info a: this publisher now holds ${path}\n`));
      await successor.stop();
      expect(programs.segments()).to.deep.equal([]);
    });

    it('exits with status 4 if the limit of the file size is too low for a segment', async () => {
      const one = file(component('a', await deadUrl()));
      const bridge = [process.execPath, join(PROJECT, 'dist/bin/shm_bridge.js'), '--config', one];
      const limited = programs.command(['bash', '-c', 'ulimit -f 1000; exec "$@"', '-', ...bridge]);
      expect((await limited.ended).status).to.equal(4);
      expect(limited.stderr).to.match(/shm_bridge: Cannot make \/dev\/shm\/\S+: EFBIG: /);
      expect(programs.segments()).to.deep.equal([]);
    });

    for (const [what, target] of [
      ['the disk of the log is full', '/dev/full'],
      ['the reader of the log has exited', '>(head -c 1 >/dev/null)'],
    ] as const)
      it(`continues without a log when ${what}`, async () => {
        const server = await serving({}, treeOf({ objects: OBJECTS }));
        const one = file(component('a', server.url, 'interval_ms = 1000\n'));
        const words = [process.execPath, join(PROJECT, 'dist/bin/shm_bridge.js')];
        const args = [...words, '--config', one, '--debug'];
        const bridge = programs.command(['bash', '-c', `exec "$@" 2> ${target}`, '-', ...args]);
        await waitFor('four polls', () => server.requests.length >= 4 || undefined);
        expect(await bridge.stop()).to.deep.equal({ status: 0, signal: null });
        expect(programs.segments()).to.deep.equal([]);
      });
  });
});
