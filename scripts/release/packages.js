// The packages that the programs are made of: those of package-lock.json that are not for development.
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Their folders with what the lock says of them. */
export function productionPackages() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages)
    .filter(([folder, { dev, devOptional }]) => folder !== '' && !dev && !devOptional)
    .map(([folder, entry]) => ({ folder, ...entry, name: nameOf(folder, entry) }));
}

const nameOf = (folder, { name }) => name ?? folder.replace(/^.*node_modules\//, '');

/** A package that has native code. */
export const isNative = ({ hasInstallScript }) => hasInstallScript === true;

/** Copies packages below `target`, without what an installation built in them or nested below. */
export function copyPackages(packages, target) {
  for (const { folder } of packages)
    cpSync(folder, join(target, folder), {
      recursive: true,
      filter: (path) => path === folder || !isLeftOut(path, folder),
    });
}

/** The compilation of a package with native code leaves both of these. */
const BUILT = ['build', 'node-addon-api'];

const isLeftOut = (path, folder) =>
  BUILT.some((built) => path === join(folder, built)) || basename(path) === 'node_modules';

/** The license texts of a package, by file name. */
export const licenseFiles = (folder) =>
  readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice|copyrightnotice)/i.test(file))
    .sort()
    .map((file) => join(folder, file));
