// Writes the licenses of the parts of a release, one folder per part.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { licenseFiles } from './packages.js';

/** Development packages whose code is compiled into the kernel. */
const COMPILED_IN = [{ name: 'assemblyscript', folder: 'node_modules/assemblyscript' }];
const LIBFFI = 'node_modules/ffi-napi/deps/libffi/LICENSE';

/**
 * Writes the licenses of a release with programs.
 * @param nodeFolder the folder of the release's Node.js; undefined if the release has none
 */
export function writeProgramLicenses(target, packages, nodeFolder) {
  writeLicenses(target, [...packages, ...COMPILED_IN]);
  writeTexts(join(target, 'libffi'), [LIBFFI]);
  if (nodeFolder !== undefined) writeTexts(join(target, 'node'), [join(nodeFolder, 'LICENSE')]);
}

export function writeLicenses(target, packages) {
  for (const { name, folder: source, license } of packages) {
    const folder = join(target, name.replace('/', '+'));
    const files = licenseFiles(source);
    writeTexts(folder, files);
    if (files.length === 0) writeFileSync(join(folder, 'LICENSE'), `${license}\n`);
  }
}

function writeTexts(folder, files) {
  mkdirSync(folder, { recursive: true });
  for (const file of files) copyFileSync(file, join(folder, basename(file)));
}
