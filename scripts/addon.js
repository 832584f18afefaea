// Compiles the addon of the publisher library. One shared object for each architecture serves every Node.js from 20
// on, with glibc and with musl.
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { run } from './release/run.js';

const SOURCE = 'sdk/typescript/addon.c';
/** The cross compilers of Debian. */
const COMPILERS = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' };
export const ARCHITECTURES = Object.keys(COMPILERS);

const CHECKS = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror'];
/**
 * Without libraries, symbols have no version, and the C library of the running Node.js provides them, whatever it is.
 * The other options keep out functions that only glibc has.
 */
const ANY_LIBC = ['-nostdlib', '-fno-stack-protector', '-U_FORTIFY_SOURCE'];
const SMALL = ['-Os', '-s', '-fvisibility=hidden', '-fno-asynchronous-unwind-tables'];
const LINKER = ['--build-id=none', '-z,noexecstack', '-z,relro', '-z,now'].map(
  (each) => `-Wl,${each}`,
);

export const addonName = (architecture) => `linux-${architecture}.node`;

/** @param defines macros of addon.c */
export function buildAddon(folder, architecture = arch(), defines = []) {
  const compiler = architecture === arch() ? (env.CC ?? 'cc') : COMPILERS[architecture];
  const headers = join(
    dirname(createRequire(import.meta.url).resolve('node-api-headers')),
    'include',
  );
  const file = join(folder, addonName(architecture));
  mkdirSync(folder, { recursive: true });
  const options = [...CHECKS, ...ANY_LIBC, ...SMALL, ...LINKER, '-fPIC', '-shared', `-I${headers}`];
  try {
    run(compiler, [...options, ...defines.map((each) => `-D${each}`), '-o', file, SOURCE]);
  } catch (thrown) {
    const needed = 'Debian: gcc, or gcc-aarch64-linux-gnu and libc6-dev-arm64-cross';
    throw new Error(
      `${SOURCE} needs a C compiler for ${architecture} (${needed}): ${thrown.message}`,
      {
        cause: thrown,
      },
    );
  }
  return file;
}
