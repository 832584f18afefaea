// Finds the native packages in the memory of this process, whatever loaded them: Node, a test runner or a bundle.
import { Fault } from '../../errors.js';

const PACKAGES = ['ffi-napi', 'ref-napi'];

/**
 * Returns the files of ffi-napi and ref-napi that are mapped.
 * @param maps the content of /proc/self/maps
 * @throws Fault NATIVE_FAILED if one of the packages is not mapped
 */
export function loadedPackages(maps: string): readonly string[] {
  const files = new Set(maps.match(/\/\S.*\.node$/gm));
  return PACKAGES.flatMap((name) => {
    const found = [...files].filter((file) => new RegExp(`/${name}(/.*)?\\.node$`).test(file));
    if (found.length > 0) return found;
    const advice = 'exclude shm-exporter from bundles, so that its native modules keep their names';
    throw new Fault('NATIVE_FAILED', `No file of ${name} is in /proc/self/maps: ${advice}`);
  });
}
