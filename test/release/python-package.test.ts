// Tests the sdist and the wheel of the Python publisher: installs each into an empty environment without a network.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { needs } from '../support/needs.js';
import { PROJECT, testPrograms } from '../support/processes.js';

const VERSION = '1.2.3-rc.1';
const FILES = ['shm_publisher-1.2.3rc1-py3-none-any.whl', 'shm_publisher-1.2.3rc1.tar.gz'];
/** Publishes a counter, and prints its name in the segment, where the package is, and its version. */
const SCRIPT = `
import importlib.metadata, os, sys
import shm_publisher
counter = shm_publisher.Counter("installed", "Installed.")
with shm_publisher.publish("installed", app="installed", context_id=sys.argv[1]) as published:
    print(b"installed_total" in open(published.path, "rb").read())
folder = os.path.dirname(shm_publisher.__file__)
print(folder.startswith(sys.prefix), "py.typed" in os.listdir(folder))
print(importlib.metadata.version("shm-publisher"), importlib.metadata.requires("shm-publisher"))
`;

/** Builds a wheel from a folder of sources, and prints its license. */
const BUILD_FROM_SOURCES = `
import sys, zipfile
folder, out = sys.argv[1:]
sys.path.insert(0, folder)
import build_backend
wheel = zipfile.ZipFile(f"{out}/{build_backend.build_wheel(out)}")
sys.stdout.write(next(wheel.read(name).decode() for name in wheel.namelist() if name.endswith("LICENSE")))
`;

describe('the Python packages of a release', function () {
  this.slow(30_000);
  const programs = testPrograms();
  const run = (words: readonly string[]): string => {
    const [program = '', ...args] = words;
    const { status, stdout, stderr } = spawnSync(program, args, {
      encoding: 'utf8',
      cwd: programs.path(''),
      // A proxy at a closed port: pip could reach nothing else either.
      env: { ...process.env, PIP_NO_INDEX: '1', https_proxy: 'http://127.0.0.1:9' },
    });
    expect(status, stdout + stderr).to.equal(0);
    return stdout;
  };
  const build = (folder: string): string => {
    const out = programs.path(folder);
    const words = [join(PROJECT, 'scripts/release/cli.js'), '--only', 'python', '--out', out];
    const { status, stderr } = spawnSync(process.execPath, [...words, '--version', VERSION], {
      encoding: 'utf8',
      cwd: PROJECT,
    });
    expect(status, stderr).to.equal(0);
    return out;
  };

  it('have the same bytes at each build, and one checksum each', () => {
    const [one, other] = [build('one'), build('other')];
    expect(readdirSync(one).sort()).to.deep.equal(
      FILES.flatMap((file) => [file, `${file}.sha256`]).sort(),
    );
    for (const file of readdirSync(one))
      expect(readFileSync(join(one, file)).equals(readFileSync(join(other, file))), file).to.equal(
        true,
      );
  });

  it('install into an empty environment without the network, and publish', function () {
    const hasPip = spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0;
    needs(this, hasPip, 'python3-venv is not installed');
    const out = build('out');
    const environment = programs.path('venv');
    run(['python3', '-m', 'venv', environment]);
    const python = join(environment, 'bin/python');
    const script = programs.write('installed.py', SCRIPT);
    for (const file of FILES) {
      run([python, '-m', 'pip', 'install', '--quiet', '--no-index', join(out, file)]);
      expect(run([python, script, programs.contextId]), file).to.equal(
        'True\nTrue True\n1.2.3rc1 None\n',
      );
      run([python, '-m', 'pip', 'uninstall', '--quiet', '--yes', 'shm-publisher']);
    }
  });

  it('have the license of the project if they are built from the sources', () => {
    const script = programs.write('build.py', BUILD_FROM_SOURCES);
    const words = ['python3', '-B', script, join(PROJECT, 'sdk/python'), programs.path('')];
    expect(run(words)).to.equal(readFileSync(join(PROJECT, 'LICENSE'), 'utf8'));
  });
});
