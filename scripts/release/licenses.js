// The licenses of everything that a release holds, one folder for each part.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { licenseFiles } from './packages.js';

/** Code of these is in the kernel and in the programs, though they are packages for development. */
const COMPILED_IN = [{ name: 'assemblyscript', folder: 'node_modules/assemblyscript' }];
const LIBFFI = 'node_modules/ffi-napi/deps/libffi/LICENSE';

/** `nodeFolder` is that of the Node.js in the release; undefined where there is none. */
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
