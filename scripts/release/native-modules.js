// Compiles the packages with native code, each into prebuilds/, where it looks for what fits a machine.
// Below an installed package, `npm run build-native` runs this file for a machine without a build.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { arch } from 'node:os';
import { argv, env } from 'node:process';
import { fileURLToPath } from 'node:url';

const MODULES = ['@2060.io/ref-napi', 'ref-napi', 'ffi-napi'];

/** `headers` is the folder of a Node.js with include/node; by default that of npm's configuration. */
export function buildNativeModules(root, headers) {
  for (const name of MODULES) {
    const folder = join(root, 'node_modules', name);
    compile(folder, resolve(root), headers);
    const built = join(folder, 'build/Release');
    const [module] = readdirSync(built).filter((file) => file.endsWith('.node'));
    const target = join(folder, `prebuilds/linux-${arch()}`);
    mkdirSync(target, { recursive: true });
    execFileSync('strip', ['--strip-unneeded', join(built, module)]);
    copyFileSync(join(built, module), join(target, 'node.napi.glibc.node'));
  }
  for (const name of MODULES) forgetBuild(root, name);
}

/** gyp writes beside the package as well, where that has a scope. */
function forgetBuild(root, name) {
  const folder = join(root, 'node_modules', name);
  const outputs = ['build', 'node-addon-api', ...(name.includes('/') ? ['../node-addon-api'] : [])];
  for (const output of outputs) rmSync(join(folder, output), { recursive: true, force: true });
}

/** Without the names of folders of this machine in it, the same source gives the same bytes. */
function compile(folder, root, headers) {
  const flags = `-ffile-prefix-map=${root}=.`;
  const nodedir = headers === undefined ? [] : [`--nodedir=${resolve(headers)}`];
  try {
    execFileSync('node-gyp', ['rebuild', '--silent', ...nodedir], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...env, CFLAGS: flags, CXXFLAGS: flags },
    });
  } catch (thrown) {
    const { code, stdout, stderr, message } = thrown;
    const reason = code === 'ENOENT' ? 'node-gyp is missing; it comes with npm run' : message;
    const cause = { cause: thrown };
    throw new Error(`${folder} cannot be compiled: ${reason}\n${stdout}${stderr}`, cause);
  }
}

/**
 * Changes the manifests of the native packages so that npm runs no script at installation, where a binding.gyp
 * would make it compile, and accepts the version of node-addon-api that our `overrides` chose: npm ignores the
 * `overrides` of an installed package.
 */
export function adaptManifests(root) {
  const pathOf = (name) => join(root, 'node_modules', name, 'package.json');
  const { version } = JSON.parse(readFileSync(pathOf('node-addon-api'), 'utf8'));
  for (const name of MODULES) {
    const manifest = JSON.parse(readFileSync(pathOf(name), 'utf8'));
    delete manifest.scripts;
    manifest.gypfile = false;
    manifest.dependencies['node-addon-api'] = version;
    writeFileSync(pathOf(name), `${JSON.stringify(manifest, null, 2)}\n`);
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) buildNativeModules('.');
