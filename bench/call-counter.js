// Preloaded: counts how often each function of a process is called, and writes that to the file named by
// the query at each SIGUSR2. A count begins where the last one ended.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const file = new URL(import.meta.url).searchParams.get('file');
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('SIGUSR2', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const calls = result.flatMap(({ url, functions }) =>
    functions.map(({ functionName, ranges }) => ({
      ...{ url, name: functionName, at: ranges[0].startOffset, count: ranges[0].count },
    })),
  );
  writeFileSync(file, JSON.stringify(calls));
});
