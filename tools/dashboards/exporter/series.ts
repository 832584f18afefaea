// The series of the exporter's dashboard, as its variables choose them.

export const OWN = 'job=~"$job",instance=~"$instance"';
export const TARGET = `${OWN},app=~"$app",server_key=~"$server_key"`;
export const OF_TARGET = '{{app}} {{server_key}} {{hint}} {{instance}}';
export const OF_EXPORTER = '{{instance}}';
const RANGE = '[$__rate_interval]';
const QUANTILES = ['p50', 'p95', 'p99'];

type Queries = Readonly<Record<string, string>>;
export const facts = (
  title: string,
  description: string,
  queries: Queries,
  w?: number,
  h?: number,
) => ({
  title,
  description,
  queries: Object.entries(queries).map(([legend, expr]) => ({ expr, legend })),
  ...(w !== undefined && { w }),
  ...(h !== undefined && { h }),
});

/** Of each exporter or target. */
export const own = (name: string): string => `shm_exporter_${name}{${OWN}}`;
export const target = (name: string): string => `shm_exporter_${name}{${TARGET}}`;
export const rate = (series: string): string => `rate(${series}${RANGE})`;
export const byTarget = (...names: readonly string[]): Queries =>
  Object.fromEntries(
    names.map((name) => [
      names.length === 1 ? OF_TARGET : `${wordsOf(name)} ${OF_TARGET}`,
      target(name),
    ]),
  );
export const quantiles = (name: string): Queries =>
  Object.fromEntries(QUANTILES.map((q) => [`${q} ${OF_TARGET}`, target(`${name}_${q}_ms`)]));
export const share = (name: string): string => {
  const [hits, misses] = [rate(target(`${name}_hits_total`)), rate(target(`${name}_misses_total`))];
  return `${hits} / (${hits} + ${misses} > 0)`;
};
const wordsOf = (name: string): string =>
  name
    .replace(/^target_|^internal_target_/, '')
    .replace(/_total$/, '')
    .replaceAll('_', ' ');
