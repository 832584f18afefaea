// Counters that real programs wrote (test/data/real). Other processes take the place of those programs.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PROJECT } from '../support/processes.js';
import type { TestPrograms } from '../support/processes.js';

const RECORDED = join(PROJECT, 'test/data/real');
const FAKE_JVM = join(PROJECT, 'dist-test/hsperfdata/fake-jvm.js');
const JVM_SUFFIX = '.hsperfdata.gz';

/** Returns the JDKs with recorded counter files, and the garbage collectors of each. */
export function recordedJdks(): ReadonlyMap<string, readonly string[]> {
  const jdks = new Map<string, string[]>();
  for (const file of readdirSync(RECORDED).sort()) {
    if (!file.endsWith(JVM_SUFFIX)) continue;
    const [, jdk = '', collector = ''] =
      /^(.+)-(\w+)$/.exec(file.slice(0, -JVM_SUFFIX.length)) ?? [];
    jdks.set(jdk, [...(jdks.get(jdk) ?? []), collector]);
  }
  return jdks;
}

interface FakeJvm {
  /** The directory of the counter file. */
  readonly directory: string;
  readonly pid: number;
}

/**
 * Starts a process that maps a recorded counter file, as the JVM did.
 * @param folder the name of the new directory
 */
export async function recordedJvm(
  programs: TestPrograms,
  jdk: string,
  collector: string,
  folder = `hsperfdata_${jdk}-${collector}`,
): Promise<FakeJvm> {
  const name = `${jdk}-${collector}`;
  const counters = programs.path(`${folder}.counters`);
  writeFileSync(counters, gunzipSync(readFileSync(join(RECORDED, name + JVM_SUFFIX))));
  const directory = programs.path(folder);
  const running = programs.command([process.execPath, FAKE_JVM, counters, directory]);
  await running.line(/^ready$/m);
  return { directory, pid: running.pid };
}

interface FakeVarnish {
  /** The parent of the work directory `shop`. */
  readonly directory: string;
  /** When the manager process started, in Unix seconds. */
  readonly startedS: number;
}

/**
 * Extracts the recorded work directory of a Varnish. A sleeping process takes the place of the manager.
 * @param folder the name of the new folder
 */
export function recordedVarnish(
  programs: TestPrograms,
  version: string,
  folder: string,
): FakeVarnish {
  const directory = programs.path(folder);
  const shop = join(directory, 'shop');
  mkdirSync(shop, { recursive: true });
  const archive = join(RECORDED, `varnish-${version}.tar.gz`);
  const { status, stderr } = spawnSync(
    'tar',
    ['-xzf', archive, '--no-same-owner', '--preserve-permissions', '-C', shop],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  // The exporter recognizes the manager by its program name.
  const program = join(directory, 'varnishd');
  symlinkSync('/bin/sleep', program);
  const { pid } = programs.command([program, '3600']);
  const startedS = Math.ceil(Date.now() / 1000);
  const index = join(shop, '_.vsm_mgt/_.index');
  const lines = readFileSync(index, 'latin1').replace(/^# \d+ \d+$/m, `# ${pid} ${startedS}`);
  writeFileSync(index, lines);
  return { directory, startedS };
}
