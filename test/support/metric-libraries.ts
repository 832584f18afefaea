// The metrics libraries that scripts/metric-libraries.js fetches: their files are what the format `multiprocess` reads.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { needs } from './needs.js';

const CACHE = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const FOLDER = join(CACHE, 'shm_exporter', 'libraries');

/** A program with a metrics library. */
export interface MetricLibrary {
  /** The library and its version. */
  readonly name: string;
  /** The folder of its packages. */
  readonly tree: string;
  /** The interpreter, with its first arguments. */
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const PYTHON = '/usr/bin/python3';

function python(suite: string, version: string): MetricLibrary {
  const tree = join(FOLDER, `python-${suite}`);
  const env = {
    PYTHONPATH: join(tree, 'usr/lib/python3/dist-packages'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return { name: `prometheus_client ${version}`, tree, program: [PYTHON, '-W', 'ignore'], env };
}

function ruby(): MetricLibrary {
  const tree = join(FOLDER, 'ruby-bookworm');
  const lib = join(tree, 'usr/lib');
  const machine = existsSync(lib)
    ? (readdirSync(lib).find((name) => name.endsWith('-linux-gnu')) ?? '')
    : '';
  const folders = [
    'ruby/vendor_ruby',
    'ruby/3.1.0',
    `${machine}/ruby/3.1.0`,
    `${machine}/ruby/vendor_ruby/3.1.0`,
  ];
  return {
    name: 'prometheus-client-mmap 0.16.2',
    tree,
    program: [join(tree, 'usr/bin/ruby3.1')],
    env: {
      LD_LIBRARY_PATH: join(lib, machine),
      RUBYLIB: folders.map((folder) => join(lib, folder)).join(':'),
    },
  };
}

/** prometheus_client 0.16 of Debian 12: entries of 8 bytes behind the key. With Gunicorn 20. */
export const PYTHON_0_16 = python('bookworm', '0.16.0');
/** prometheus_client 0.21 of Debian 13: entries of 16 bytes behind the key. With Gunicorn 23. */
export const PYTHON_0_21 = python('trixie', '0.21.1');
/** GitLab's library for Ruby, of Debian 12. */
export const RUBY = ruby();

export const METRIC_LIBRARIES: readonly MetricLibrary[] = [PYTHON_0_16, PYTHON_0_21, RUBY];

/** Skips unless these libraries were fetched. */
export function needsLibraries(
  context: Mocha.Context,
  ...libraries: readonly MetricLibrary[]
): void {
  for (const { name, tree, program } of libraries) {
    needs(context, existsSync(tree), `scripts/metric-libraries.js has not fetched ${name}`);
    const [file = ''] = program;
    needs(context, existsSync(file), `${file} is not there`);
  }
}

/** The environment of a process that uses the library. */
export const environmentOf = ({ env }: MetricLibrary): NodeJS.ProcessEnv => ({
  ...process.env,
  ...env,
});

/** Runs a script of the library to its end. Returns its stdout; throws if it fails. */
export function runLibrary(
  library: MetricLibrary,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const [file = '', ...first] = library.program;
  const { status, stdout, stderr } = spawnSync(file, [...first, ...args], {
    env: { ...environmentOf(library), ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${library.name}: status ${status}: ${stderr}`);
  return stdout;
}
