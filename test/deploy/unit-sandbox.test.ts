// Tests the sandbox of the systemd units in deploy, and that the programs work in it.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inBothModes } from '../support/modes.js';
import { PROJECT, isInstalled, testPrograms } from '../support/processes.js';
import { readyPage, scrape } from '../end-to-end/page.js';
import { freshComponents, treeOf } from '../support/component/components.js';
import { needs, needsPrograms } from '../support/needs.js';

const UNITS = ['shm_exporter', 'shm_bridge'] as const;
const SANDBOX = join(PROJECT, 'test/deploy/sandbox.py');
const KERNEL_HEADER = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h';

/** Returns the settings in the section [Service] of a unit. */
function settingsOf(unit: (typeof UNITS)[number]): ReadonlyMap<string, string> {
  const text = readFileSync(join(PROJECT, `deploy/${unit}.service`), 'utf8');
  const [, service = ''] = text.split('[Service]');
  return new Map(
    [...service.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  );
}

/** Returns the system calls of a filter. Its groups may contain groups. */
function systemCalls(filter: string): ReadonlySet<string> {
  const calls = new Set<string>();
  const add = (group: string) => {
    const { stdout } = spawnSync('systemd-analyze', ['syscall-filter', group], {
      encoding: 'utf8',
    });
    for (const line of stdout.split('\n').slice(1)) {
      const word = line.trim();
      if (word.startsWith('@')) add(word);
      else if (word !== '' && !word.startsWith('#')) calls.add(word);
    }
  };
  filter.split(' ').forEach(add);
  return calls;
}

describe('the units of systemd', () => {
  const programs = testPrograms();
  const serving = freshComponents();
  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '20'));

  for (const unit of UNITS) {
    it(`drop every capability, allow no new privileges, and make the files of the host read-only (${unit})`, () =>
      expect(Object.fromEntries(settingsOf(unit))).to.include({
        CapabilityBoundingSet: '',
        NoNewPrivileges: 'yes',
        ProtectSystem: 'strict',
        SystemCallFilter: '@system-service @pkey',
        SystemCallErrorNumber: 'EPERM',
      }));

    it(`restart the program after every exit, because the cause, such as a wrong clock, may be corrected later (${unit})`, () => {
      const settings = settingsOf(unit);
      expect(settings.get('Restart')).to.equal('always');
      expect(settings.has('RestartPreventExitStatus')).to.equal(false);
    });

    it(`pass systemd-analyze verify, except that the program is not installed here (${unit})`, function () {
      needsPrograms(this, 'systemd-analyze');
      const path = join(PROJECT, `deploy/${unit}.service`);
      const { stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
      const lines = stderr.split('\n').filter((line) => line.includes(`${unit}.service`));
      expect(lines.filter((line) => !line.includes('is not executable'))).to.deep.equal([]);
    });
  }

  let calls: string | undefined;
  /** Writes a file with the system calls that the units allow. */
  function callsFile(): string {
    const names = [...systemCalls(settingsOf('shm_exporter').get('SystemCallFilter') ?? '')];
    expect(names).to.include.members(['read', 'pread64', 'futex']).and.not.include('mount');
    return programs.write('calls', names.join('\n'));
  }
  /**
   * Returns the words to put before a command. They restrict the command to the system calls of the units.
   */
  const sandbox = (): readonly string[] => ['python3', SANDBOX, (calls ??= callsFile())];
  const isPossible = () => isInstalled('systemd-analyze') && existsSync(KERNEL_HEADER);

  it('forbid mount(2) and all capabilities in the sandbox of this test', function () {
    needs(this, isPossible(), 'systemd or the headers of the kernel are not installed');
    const script =
      'import ctypes, os\nl = ctypes.CDLL(None, use_errno=True)\n' +
      'l.mount(b"/", b"/", b"none", 0, None)\nprint(ctypes.get_errno())\n' +
      'print(next(line for line in open("/proc/self/status") if line.startswith("CapBnd")).split()[1])';
    const [file, ...args] = [...sandbox(), 'python3', '-c', script];
    const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
    const isRoot = process.geteuid?.() === 0;
    const [errno, bounding] = stdout.split('\n');
    expect(errno, stderr).to.equal('1');
    if (isRoot) expect(bounding).to.match(/^0+$/);
  });

  inBothModes('in the sandbox of this test', function (worker_execution_mode) {
    this.slow(5000);
    before(function () {
      needs(this, isPossible(), 'systemd or the headers of the kernel are not installed');
    });

    it('let the exporter start, serve concurrent requests, reload and stop', async () => {
      const config = programs.config({
        ...{ app: 'ads', server_keys: ['82'], worker_execution_mode, target_workers: 2 },
      });
      const exporter = programs.start('exporter', ['--config', config], { under: sandbox() });
      const url = await exporter.url();
      const page = await readyPage(url);
      expect(page).to.contain('\nads_process_pid ');
      expect(exporter.stderr).not.to.match(/EPERM|not permitted|warning/);
      exporter.signal('SIGHUP');
      await exporter.line(/configuration reloaded/);
      const statuses = await Promise.all(
        Array.from({ length: 8 }, async () => (await scrape(url)).status),
      );
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
      expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
    });
  });

  it('let the bridge poll, publish and stop', async function () {
    needs(this, isPossible(), 'systemd or the headers of the kernel are not installed');
    const objects = [{ id: 'h.1.ads', class: 'ManagedProcess.SinkDist', variables: {} }];
    const { url } = await serving({}, treeOf({ objects }));
    const config = programs.write(
      'bridge.toml',
      `context_id = "${programs.contextId}"\n[[components]]\nname = "a"\nurl = "${url}"\nserver_key = "90"\n`,
    );
    const bridge = programs.start('bridge', ['--config', config], { under: sandbox() });
    await bridge.line(/received its tree: 1 object/);
    expect(programs.segments().join()).to.contain('90');
    expect(await bridge.stop()).to.deep.equal({ status: 0, signal: null });
  });
});
