// Compiles the native packages into modules in dist/prebuilds, where the programs and the library look for them. In
// an installed npm package, `npm run build-native` runs this file, on a machine for which the package has no modules.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { arch } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, env, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

/** The shared object of each package. `ref-napi` is an alias of `@2060.io/ref-napi`. */
export const SHARED_OBJECTS = { '@2060.io/ref-napi': 'ref-napi.node', 'ffi-napi': 'ffi-napi.node' };

/** The folder in the npm package of shm-exporter that holds the sources of both packages. */
export const SOURCES = 'native';

/**
 * @param packages the folder with the sources of the packages
 * @param target the folder for the shared objects, with a subfolder per platform
 * @param headers a Node.js folder with include/node; by default the one of npm's configuration
 */
export function buildNativeModules(packages, target, headers) {
  const folder = join(target, `${platform}-${arch()}`);
  mkdirSync(folder, { recursive: true });
  for (const [name, file] of Object.entries(SHARED_OBJECTS)) {
    const source = join(packages, name);
    compile(source, resolve(packages), headers);
    const built = join(source, 'build/Release');
    const [module] = readdirSync(built).filter((each) => each.endsWith('.node'));
    execFileSync('strip', ['--strip-unneeded', join(built, module)]);
    copyFileSync(join(built, module), join(folder, file));
  }
  for (const name of Object.keys(SHARED_OBJECTS)) forgetBuild(packages, name);
}

/** Removes the build output of a package. For a package with a scope, gyp also writes into the folder of the scope. */
function forgetBuild(packages, name) {
  const outputs = ['build', 'node-addon-api', ...(name.includes('/') ? ['../node-addon-api'] : [])];
  for (const output of outputs)
    rmSync(join(packages, name, output), { recursive: true, force: true });
}

/** Compiles a package reproducibly: the flags keep the paths of this machine out of the shared object. */
function compile(folder, packages, headers) {
  const flags = `-ffile-prefix-map=${packages}=.`;
  const nodedir = headers === undefined ? [] : [`--nodedir=${resolve(headers)}`];
  try {
    execFileSync('node-gyp', ['rebuild', '--silent', ...nodedir], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      // NODE_PATH lets a package find the headers of the other packages.
      env: { ...env, CFLAGS: flags, CXXFLAGS: flags, NODE_PATH: packages },
    });
  } catch (thrown) {
    const { code, stdout, stderr, message } = thrown;
    const reason = code === 'ENOENT' ? 'node-gyp is missing; it comes with npm run' : message;
    const cause = { cause: thrown };
    throw new Error(`${folder} cannot be compiled: ${reason}\n${stdout}${stderr}`, cause);
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) buildNativeModules(SOURCES, 'dist/prebuilds');
