// The version of a release, and the time of its commit. All files of the release get this time.
import { readFileSync } from 'node:fs';
import { run } from './run.js';

/** `epoch` is the Unix time of the commit. Set SOURCE_DATE_EPOCH to build without git. */
export function releaseOf(version) {
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']));
  return {
    epoch,
    version: version ?? JSON.parse(readFileSync('package.json', 'utf8')).version,
    date: new Date(epoch * 1000).toISOString().slice(0, 'YYYY-MM-DD'.length),
  };
}
