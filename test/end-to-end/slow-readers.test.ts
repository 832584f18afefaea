// Tests all programs with a reader that does not read stdout and stderr, and with another program that
// shares the pipe.
import { expect } from 'chai';
import { hashSync } from 'bcryptjs';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { freePort } from '../support/free-port.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Ended, Running } from '../support/processes.js';
import { READERS, flagsOf } from '../support/readers.js';
import type { Reader } from '../support/readers.js';

const SIGHUP = 1;
/** A program ends within four seconds after SIGTERM, but takes longer on a busy machine. */
const END_MS = 12_000;

describe('a program', function () {
  this.slow(10_000);
  const programs = testPrograms();
  const readers: Reader[] = [];
  afterEach(() => {
    for (const each of readers.splice(0)) each.close();
  });
  const opened = (make: () => Reader): Reader => {
    const reader = make();
    readers.push(reader);
    return reader;
  };
  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '60'));

  /** Whether the program handles SIGHUP. Node.js itself has no handler for it, so the program has started. */
  const handlesSignals = ({ pid, isOver }: Running): boolean => {
    if (isOver) throw new Error('It has ended');
    const [, caught = '0'] =
      /^SigCgt:\s+(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return (BigInt(`0x${caught}`) & (1n << BigInt(SIGHUP - 1))) !== 0n;
  };
  /** Whether the program has opened a file. */
  const hasOpened = ({ pid }: Running, name: string): boolean =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).includes(name);
      } catch {
        return false;
      }
    });
  const segmentOf = (key: string) => `${programs.contextId}.pool.${key}`;
  const serves = (port: number) =>
    fetch(`http://127.0.0.1:${port}/-/ready`, { signal: AbortSignal.timeout(5000) }).then(
      ({ status }) => status === 200 || undefined,
      () => undefined,
    );

  /** Starts each program and waits until it is working. */
  const startAll = async (outputs: number): Promise<ReadonlyMap<string, Running>> => {
    const port = await freePort();
    const own = ['--context-id', programs.contextId];
    const component = `[[components]]\nname = "a"\nurl = "http://127.0.0.1:1"\nserver_key = "84"\n`;
    const bridge = programs.write(
      'bridge.toml',
      `context_id = "${programs.contextId}"\n${component}`,
    );
    const target = { app: 'ads', server_keys: ['82'] };
    const printing = { ...target, metrics_http_enabled: false, metrics_interval_seconds: 1 };
    const serving = programs.start(
      'exporter',
      ['--config', programs.config({ ...target, metrics_port: port })],
      { outputs },
    );
    const toStdout = programs.start('exporter', ['--config', programs.config(printing)], {
      outputs,
    });
    const all = {
      'shm_exporter with HTTP': serving,
      'shm_exporter without HTTP': toStdout,
      shm_bridge: programs.start('bridge', ['--config', bridge], { outputs }),
      'shm_dump --watch': programs.start('dump', [...own, '--server-key', '82', '--watch'], {
        outputs,
      }),
      shm_simulator: programs.start('simulator', [...own, '--app', 'ads', '--server-key', '83'], {
        outputs,
      }),
    };
    await waitFor('the exporter serves', () => serves(port));
    serving.signal('SIGHUP');
    await waitFor('the exporter prints', () => hasOpened(toStdout, segmentOf('82')) || undefined);
    for (const [name, program] of Object.entries(all))
      await waitFor(`${name} handles signals`, () => handlesSignals(program) || undefined);
    await waitFor(
      'the simulator publishes',
      () => programs.segments().includes(segmentOf('83')) || undefined,
    );
    expect(await serves(port), 'after a log line').to.equal(true);
    return new Map(Object.entries(all));
  };

  const ends = (
    all: ReadonlyMap<string, Running>,
  ): Promise<readonly (readonly [string, Ended | string])[]> => {
    const late = new Promise<string>((resolve) => setTimeout(resolve, END_MS, 'too late'));
    return Promise.all(
      [...all].map(async ([name, program]) => {
        program.signal('SIGTERM');
        return [name, await Promise.race([program.ended, late])] as const;
      }),
    );
  };

  for (const [kind, make] of Object.entries(READERS)) {
    // Skip named pipes: they behave like other pipes.
    if (kind.includes('named')) continue;
    it(`works while stdout and stderr are ${kind}, ends at SIGTERM with status 0, and does not change their flags`, async () => {
      const reader = opened(make);
      const flags = flagsOf(reader.fd);
      reader.stop();
      const all = await startAll(reader.fd);
      expect(flagsOf(reader.fd), 'flags while they run').to.equal(flags);
      for (const [name, ended] of await ends(all))
        expect(ended, name).to.deep.equal({ status: 0, signal: null });
      expect(flagsOf(reader.fd), 'flags after their end').to.equal(flags);
      expect(programs.segments(), 'of the simulator').not.to.include(segmentOf('83'));
    });
  }

  it('ends at SIGTERM while its output goes to a stopped terminal, whether it is the demo or a program with --help', async () => {
    const reader = opened(() => (READERS['a terminal stopped by Ctrl-S'] ?? raise)());
    reader.stop();
    const outputs = reader.fd;
    const demo = programs.start('demo', ['--port', String(await freePort())], { outputs });
    const help = programs.start('license', ['--help'], { outputs });
    await waitFor('the demo handles signals', () => handlesSignals(demo) || undefined);
    const [[, ofDemo], [, ofHelp]] = (await ends(
      new Map([
        ['demo', demo],
        ['help', help],
      ]),
    )) as [[string, Ended], [string, Ended]];
    expect(ofDemo).to.deep.equal({ status: 0, signal: null });
    expect(ofHelp).to.deep.equal({ status: null, signal: 'SIGTERM' });
  });

  it('leaves all writes of another program intact if both share stdout and stderr, and the reader is slow', async () => {
    const reader = opened(() => (READERS['a pipe that is not read'] ?? raise)());
    const port = await freePort();
    const user = `basic_auth_users:\n  alice: ${hashSync('s', 4)}\n`;
    const config = programs.config({
      ...{ app: 'ads', server_keys: ['82'], metrics_port: port },
      ...{ worker_execution_mode: 'threaded', target_workers: 1 },
      web_config_file: programs.write('web.yml', user),
    });
    const warn = 'setInterval(() => process.emitWarning("a warning of Node.js"), 50).unref()';
    const exporter = programs.command(
      [
        ...[process.execPath, '--import', `data:text/javascript,${encodeURIComponent(warn)}`],
        ...['dist/bin/shm_exporter.js', '--config', config],
      ],
      { outputs: reader.fd },
    );
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/-/ready`, {
        headers: { authorization: `Basic ${btoa('alice:s')}` },
      }).then(
        ({ status }) => status === 200 || undefined,
        () => undefined,
      );
    await waitFor('the exporter serves', isUp);
    const big = programs.write('big', `${'x'.repeat(99)}\n`.repeat(20_000));
    const cat = programs.command(['cat', big], { outputs: reader.fd });
    exporter.signal('SIGHUP');
    // The reader sleeps while it waits for output.
    await waitFor(
      'cat waits for it',
      () => /^State:\s+S/m.exec(readFileSync(`/proc/${cat.pid}/status`, 'utf8'))?.[0],
    );
    let text = '';
    const done = await waitFor('cat has written all', () => {
      text += reader.read();
      return cat.isOver ? cat.ended : undefined;
    });
    expect(done).to.deep.equal({ status: 0, signal: null });
    await waitFor('the warning is logged', () => {
      text += reader.read();
      return /a warning of Node\.js/.exec(text) ?? undefined;
    });
    expect(text.match(/x/g)).to.have.length(99 * 20_000);
    expect((await exporter.stop()).status).to.equal(0);
  });
});

const raise = (): never => {
  throw new Error('There is no such reader');
};
