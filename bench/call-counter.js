// Preloaded: counts how often each function of a process is called, and writes that to the file named by
// the query at each SIGUSR2. A count begins where the last one ended.
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const file = new URL(import.meta.url).searchParams.get('file');
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('SIGUSR2', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const calls = result
    .filter(({ url }) => url !== import.meta.url)
    .flatMap(({ url, functions }) =>
      functions.map(({ functionName, ranges: [{ startOffset, count }] }) => {
        return { url, name: functionName, at: startOffset, count };
      }),
    );
  writeFileSync(`${file}.new`, JSON.stringify(calls));
  renameSync(`${file}.new`, file);
});
