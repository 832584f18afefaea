// Tests that one addon for each architecture runs with every C library.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled, PROJECT } from '../../support/processes.js';
import { needsPrograms } from '../../support/needs.js';
import { suiteFolder } from '../../support/suite-folder.js';

/** Functions that glibc and musl have had in all their versions for both architectures. */
const IN_EVERY_LIBC = [
  ...['__errno_location', 'calloc', 'fchmod', 'fcntl', 'free', 'linkat', 'memcpy', 'memset'],
  ...['mmap', 'munmap', 'posix_fallocate', 'syscall', 'sysconf'],
];
const HEADERS = join(PROJECT, 'node_modules/node-api-headers/include');

interface Target {
  readonly compiler: string;
  /** Runs a program for this target, if the machine cannot run it itself. */
  readonly runner: readonly string[];
  readonly architecture: 'x64' | 'arm64';
}

const TARGETS: Readonly<Record<string, Target>> = {
  'glibc on x64': { compiler: 'cc', runner: [], architecture: 'x64' },
  'musl on x64': { compiler: 'musl-gcc', runner: [], architecture: 'x64' },
  'glibc on arm64': {
    compiler: 'aarch64-linux-gnu-gcc',
    runner: ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu'],
    architecture: 'arm64',
  },
};

describe('The addon of the publisher', function () {
  this.timeout(60_000).slow(10_000);
  const folder = suiteFolder('shm-addon-');
  const addons: Partial<Record<string, string>> = {};

  before(function () {
    if (process.arch !== 'x64') this.skip();
    const script = `import { buildAddon } from './scripts/addon.js';
      buildAddon(process.argv[1], process.argv[2]);`;
    for (const [architecture, compiler] of [
      ['x64', 'cc'],
      ['arm64', 'aarch64-linux-gnu-gcc'],
    ] as const) {
      if (!isInstalled(compiler)) continue;
      const words = ['--input-type=module', '-e', script, folder(), architecture];
      const { status, stderr } = spawnSync(process.execPath, words, {
        cwd: PROJECT,
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(0);
      addons[architecture] = folder(`linux-${architecture}.node`);
    }
  });

  for (const architecture of ['x64', 'arm64'])
    it(`needs no library and no symbol for ${architecture} that a C library may lack`, function () {
      needsPrograms(this, 'readelf', architecture === 'x64' ? 'cc' : 'aarch64-linux-gnu-gcc');
      const words = ['--wide', '--dynamic', '--dyn-syms', addons[architecture] ?? ''];
      const { stdout } = spawnSync('readelf', words, { encoding: 'utf8' });
      expect(stdout).not.to.include('(NEEDED)');
      const undefinedNames = [...stdout.matchAll(/ UND (\S+)/g)].map(([, name = '']) => name);
      const ofLibc = undefinedNames.filter((name) => !name.startsWith('napi_'));
      expect(IN_EVERY_LIBC).to.include.members(ofLibc);
      expect(ofLibc).to.include('mmap');
    });

  for (const [name, { compiler, runner, architecture }] of Object.entries(TARGETS))
    it(`makes its system calls with ${name}`, function () {
      needsPrograms(this, compiler, ...runner.slice(0, 1));
      const place = folder(name);
      mkdirSync(place);
      const host = join(place, 'host');
      const sources = [join(PROJECT, 'test/native/os/addon-host.c'), `-I${HEADERS}`];
      const compiled = spawnSync(compiler, ['-std=c11', '-rdynamic', '-o', host, ...sources], {
        encoding: 'utf8',
      });
      expect(compiled.status, compiled.stderr).to.equal(0);
      const [program, ...words] = [...runner, host, addons[architecture] ?? ''];
      const { stdout, stderr } = spawnSync(program, words, { cwd: place, encoding: 'utf8' });
      expect(stdout, stderr).to.equal('done\n');
    });
});
