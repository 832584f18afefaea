// Builds the sdist and the wheel of the Python publisher.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.js';
import { isShipped } from './shipped.js';

const FOLDER = 'sdk/python';
const BUILD = `
import build_backend, sys
print(build_backend.build_sdist(sys.argv[1]))
print(build_backend.build_wheel(sys.argv[1]))
`;

/** The version of the release, as Python writes it: 1.2.3rc1 for 1.2.3-rc.1. */
const pythonVersion = ({ version }) => version.replace(/-([a-z]+)\.?(\d*)$/i, '$1$2');

/** Writes the version of the release into pyproject.toml in a folder. */
export function statePythonVersion(folder, release) {
  const file = join(folder, 'pyproject.toml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^version = .*$/m, `version = "${pythonVersion(release)}"`));
}

/** Builds both packages in the folder `out`. Returns their paths. */
export function writePythonPackages(out, work, release) {
  const folder = join(work, 'python');
  mkdirSync(work, { recursive: true });
  cpSync(FOLDER, folder, { recursive: true, filter: isShipped });
  cpSync('LICENSE', join(folder, 'LICENSE'));
  statePythonVersion(folder, release);
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: '1',
    SOURCE_DATE_EPOCH: String(release.epoch),
  };
  const names = run('python3', ['-c', BUILD, out], { cwd: folder, env });
  return names
    .trim()
    .split('\n')
    .map((name) => join(out, name));
}
