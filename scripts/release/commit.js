// What a release takes from the commit that it is made of: its version, and its time for all files.
import { readFileSync } from 'node:fs';
import { run } from './run.js';

/** Seconds since 1970. SOURCE_DATE_EPOCH stands for the time of the commit where there is no git. */
export function releaseOf(version) {
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']));
  return {
    epoch,
    version: version ?? JSON.parse(readFileSync('package.json', 'utf8')).version,
    date: new Date(epoch * 1000).toISOString().slice(0, 'YYYY-MM-DD'.length),
  };
}
