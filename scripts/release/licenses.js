// Writes the licenses of all parts of a release, one folder per part.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { licenseFiles } from './packages.js';

/** Development packages whose code is compiled into the kernel. */
const COMPILED_IN = [{ name: 'assemblyscript', folder: 'node_modules/assemblyscript' }];
const LIBFFI = 'node_modules/ffi-napi/deps/libffi/LICENSE';

/** @param nodeFolder the folder of the release's Node.js; undefined if the release has none */
export function writeLicenses(target, packages, nodeFolder) {
  const parts = [
    ...[...packages, ...COMPILED_IN].map((each) => [each.name, licenseFiles(each.folder), each]),
    ['libffi', [LIBFFI], {}],
    ...(nodeFolder === undefined ? [] : [['node', [join(nodeFolder, 'LICENSE')], {}]]),
  ];
  for (const [name, files, { license }] of parts) {
    const folder = join(target, name.replace('/', '+'));
    mkdirSync(folder, { recursive: true });
    for (const file of files) copyFileSync(file, join(folder, basename(file)));
    if (files.length === 0) writeFileSync(join(folder, 'LICENSE'), `${license}\n`);
  }
}
