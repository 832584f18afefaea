// npm run torture: the first part of it.
import { HOSTILE } from './hostile-cases.js';
import { runHostile } from './hostile.js';

const [only = '', mode = 'logical', scale = '1', ms = '12000'] = process.argv.slice(2);
for (const each of HOSTILE) {
  if (!each.name.includes(only)) continue;
  const result = await runHostile(each, {
    mode: mode === 'threaded' ? 'threaded' : 'logical',
    seed: 1,
    scale: Number(scale),
    ms: Number(ms),
  }).catch((error: unknown) => ({ error: String(error) }));
  if ('error' in result) {
    console.log(`${each.name} | ${mode} | ${result.error}`);
    continue;
  }
  const { scrapes, p99, worstMs, peakMb, backMs, wrong } = result;
  const f = (value: number) => value.toFixed(1);
  console.log(
    `${each.name} | ${mode} | ${scrapes} | ${f(p99[0])} → ${f(p99[1])} | ${f(worstMs)} | ${f(peakMb)} MB | ${f(backMs)} | ${wrong.length} ${wrong.slice(0, 2).join('; ').slice(0, 200)}`,
  );
}
process.exit(0);
