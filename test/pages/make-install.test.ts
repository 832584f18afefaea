// Tests the build files of the C publisher: `make install`, pkg-config, CMake and Meson, each with programs that use
// the headers.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.js';
import { needsPrograms } from '../support/needs.js';

describe('make install in sdk/c', () => {
  const folder = temporaryFolder();
  const make = (...words: readonly string[]) => {
    const { status, stderr } = spawnSync('make', ['-C', 'sdk/c', ...words], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
  };
  const files = () =>
    readdirSync(folder.path(), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder.path(), join(parentPath, name)))
      .sort();
  const ALL = [
    'include/shm_children.h',
    'include/shm_metrics.h',
    'include/shm_publisher.h',
    'include/shm_publisher.hpp',
    'include/shm_updates.h',
    'share/cmake/shm_publisher/shm_publisherConfig.cmake',
    'share/cmake/shm_publisher/shm_publisherConfigVersion.cmake',
    'share/pkgconfig/shm_publisher.pc',
  ];
  /** Writes a program in C and one in C++ into a folder. Each prints the error of a refused call. */
  const writePrograms = (name: string): string => {
    mkdirSync(folder.path(name));
    const call = 'shm_metrics *m; shm_metrics_open(0, "shop", &m); puts(shm_last_error());';
    folder.write(`${name}/c.c`, `#include "shm_metrics.h"\nint main(void) { ${call} }\n`);
    folder.write(`${name}/cpp.cpp`, `#include "shm_publisher.hpp"\nint main() { ${call} }\n`);
    return folder.path(name);
  };
  const run = (command: string, ...words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
    expect(status, stdout + stderr).to.equal(0);
    return stdout;
  };
  const expectBuilt = (build: string) => {
    for (const program of ['c', 'cpp'])
      expect(run(join(build, program))).to.match(/^shm_metrics_open: options: found NULL/);
  };

  it('installs its files under a prefix or a DESTDIR, and uninstall removes them', () => {
    make('install', `PREFIX=${folder.path()}`);
    expect(files()).to.deep.equal(ALL);
    make('uninstall', `PREFIX=${folder.path()}`);
    expect(files()).to.deep.equal([]);
    make('install', `DESTDIR=${folder.path('stage')}`);
    expect(files()).to.deep.equal(ALL.map((file) => `stage/usr/local/${file}`));
  });

  it('makes pkg-config return flags that work, even after the files are moved', function () {
    needsPrograms(this, 'pkg-config');
    make('install', `PREFIX=${folder.path('before')}`);
    spawnSync('mv', [folder.path('before'), folder.path('after')]);
    const env = { ...process.env, PKG_CONFIG_PATH: folder.path('after/share/pkgconfig') };
    const words = ['--cflags', '--libs', 'shm_publisher'];
    const { stdout: flags } = spawnSync('pkg-config', words, { encoding: 'utf8', env });
    folder.write('a.c', '#include "shm_publisher.h"\nint main(void) { return 0; }\n');
    const command = `cc -o ${folder.path('a')} ${folder.path('a.c')} ${flags}`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  it('is found by CMake in a prefix that was moved, for C and C++', function () {
    this.slow(20_000).timeout(120_000);
    needsPrograms(this, 'cmake');
    make('install', `PREFIX=${folder.path('cmake-before')}`);
    spawnSync('mv', [folder.path('cmake-before'), folder.path('cmake-after')]);
    const sources = writePrograms('cmake-user');
    folder.write(
      'cmake-user/CMakeLists.txt',
      `cmake_minimum_required(VERSION 3.13)
project(user C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(shm_publisher 0.1 REQUIRED)
add_executable(c c.c)
target_link_libraries(c PRIVATE shm_publisher::shm_publisher)
add_executable(cpp cpp.cpp)
target_link_libraries(cpp PRIVATE shm_publisher::shm_publisher)
`,
    );
    const build = folder.path('cmake-build');
    run('cmake', '-S', sources, '-B', build, `-DCMAKE_PREFIX_PATH=${folder.path('cmake-after')}`);
    run('cmake', '--build', build);
    expectBuilt(build);
    const newer = ['-S', sources, '-B', folder.path('cmake-newer')];
    folder.write(
      'cmake-user/CMakeLists.txt',
      'project(user C)\nfind_package(shm_publisher 99 REQUIRED)\n',
    );
    const { status, stderr } = spawnSync(
      'cmake',
      [...newer, `-DCMAKE_PREFIX_PATH=${folder.path('cmake-after')}`],
      { encoding: 'utf8' },
    );
    expect(status).to.equal(1);
    expect(stderr).to.include('compatible with requested version "99"');
  });

  it('is a subdirectory of a project of CMake', function () {
    this.slow(20_000).timeout(120_000);
    needsPrograms(this, 'cmake');
    const sources = writePrograms('cmake-parent');
    folder.write(
      'cmake-parent/CMakeLists.txt',
      `cmake_minimum_required(VERSION 3.13)
project(parent C CXX)
set(CMAKE_CXX_STANDARD 17)
add_subdirectory(shm_publisher)
add_executable(c c.c)
target_link_libraries(c PRIVATE shm_publisher::shm_publisher)
add_executable(cpp cpp.cpp)
target_link_libraries(cpp PRIVATE shm_publisher::shm_publisher)
`,
    );
    cpSync('sdk/c', join(sources, 'shm_publisher'), { recursive: true });
    const build = folder.path('cmake-parent-build');
    run('cmake', '-S', sources, '-B', build);
    run('cmake', '--build', build);
    expectBuilt(build);
  });

  it('is a subproject of Meson', function () {
    this.slow(20_000).timeout(120_000);
    needsPrograms(this, 'meson', 'ninja');
    const sources = writePrograms('meson-user');
    folder.write(
      'meson-user/meson.build',
      `project('user', 'c', 'cpp', default_options: ['c_std=c11', 'cpp_std=c++17'])
shm_publisher = dependency('shm_publisher', fallback: ['shm_publisher', 'shm_publisher_dep'])
executable('c', 'c.c', dependencies: shm_publisher)
executable('cpp', 'cpp.cpp', dependencies: shm_publisher)
`,
    );
    cpSync('sdk/c', join(sources, 'subprojects/shm_publisher'), { recursive: true });
    const build = folder.path('meson-build');
    run('meson', 'setup', build, sources);
    run('ninja', '-C', build);
    expectBuilt(build);
  });

  /** Returns the version that each build file in a folder states. */
  const versionsIn = (sources: string) =>
    (
      [
        ['shm_publisher.pc', /^Version: (.*)$/m],
        ['shm_publisherConfigVersion.cmake', /^set\(PACKAGE_VERSION "(.*)"\)$/m],
        ['meson.build', /^project\(.*, version: '(.*?)'/m],
      ] as const
    ).map(([file, pattern]) => pattern.exec(readFileSync(join(sources, file), 'utf8'))?.[1]);

  it('states the version of the project in each build file', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(versionsIn('sdk/c')).to.deep.equal([version, version, version]);
  });

  it('has the same files in a release, which states its version in each build file', () => {
    cpSync('sdk/c', folder.path('sdk/c'), { recursive: true });
    const script = `import { placeCPublisher, stateVersion } from './scripts/release/c-publisher.js';
      stateVersion(process.argv[1], { version: '9.8.7' });
      placeCPublisher(process.argv[1]);`;
    run(process.execPath, '--input-type=module', '-e', script, folder.path());
    expect(versionsIn(folder.path('sdk/c'))).to.deep.equal(['9.8.7', '9.8.7', '9.8.7']);
    const meson = readFileSync(folder.path('sdk/c/meson.build'), 'utf8');
    expect(meson).to.include("version: '9.8.7', meson_version: '>=0.54'");
    expect(files().filter((file) => !file.startsWith('sdk/'))).to.deep.equal(ALL);
  });
});
