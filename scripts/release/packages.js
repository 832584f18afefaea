// The production packages of package-lock.json, which the programs contain.
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Returns the production packages, with their folders and their entries in package-lock.json. */
export function productionPackages() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages)
    .filter(([folder, { dev, devOptional }]) => folder !== '' && !dev && !devOptional)
    .map(([folder, entry]) => ({ folder, ...entry, name: nameOf(folder, entry) }));
}

const nameOf = (folder, { name }) => name ?? folder.replace(/^.*node_modules\//, '');

/** Whether a package has native code: only such packages have an install script. */
export const isNative = ({ hasInstallScript }) => hasInstallScript === true;

/** Copies packages below `target`, without their build output and without the packages nested in them. */
export function copyPackages(packages, target) {
  for (const { folder } of packages)
    cpSync(folder, join(target, folder), {
      recursive: true,
      filter: (path) => path === folder || !isLeftOut(path, folder),
    });
}

/** The folders that the compilation of a native package creates. */
const BUILT = ['build', 'node-addon-api'];

const isLeftOut = (path, folder) =>
  BUILT.some((built) => path === join(folder, built)) || basename(path) === 'node_modules';

/** The license texts of a package, by file name. */
export const licenseFiles = (folder) =>
  readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice|copyrightnotice)/i.test(file))
    .sort()
    .map((file) => join(folder, file));
