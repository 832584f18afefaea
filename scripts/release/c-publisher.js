// Prepares the C publisher in a release: states its version, and copies its files to the folders where compilers,
// pkg-config and CMake look.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = 'sdk/c';

/** The files by the folder that gets them, below a prefix. */
const FILES = {
  include: [
    'shm_publisher.h',
    'shm_updates.h',
    'shm_children.h',
    'shm_metrics.h',
    'shm_publisher.hpp',
  ],
  'share/pkgconfig': ['shm_publisher.pc'],
  'share/cmake/shm_publisher': ['shm_publisherConfig.cmake', 'shm_publisherConfigVersion.cmake'],
};

/** The files that state the version, and the text around it. */
const VERSIONS = {
  'shm_publisher.pc': /^(Version: )(.*)()$/m,
  'shm_publisherConfigVersion.cmake': /^(set\(PACKAGE_VERSION ")(.*)("\))$/m,
  'meson.build': /^(project\(.*, version: ')([^']*)(')/m,
};

/** Writes the version of the release into the files of build tools in `target`. */
export function stateVersion(target, { version }) {
  for (const [name, pattern] of Object.entries(VERSIONS)) {
    const file = join(target, SOURCES, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, `$1${version}$3`));
  }
}

/** Copies the files into the usual folders below a prefix. */
export function placeCPublisher(target) {
  for (const [folder, names] of Object.entries(FILES)) {
    mkdirSync(join(target, folder), { recursive: true });
    for (const name of names) cpSync(join(target, SOURCES, name), join(target, folder, name));
  }
}
