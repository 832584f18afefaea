// What --help of the exporter prints around the options.

export const PURPOSE = `Reads managed objects from shared memory and exposes them as Prometheus metrics:
over HTTP with --enable-metrics-http, else as snapshots on stdout.`;

/** Command lines that work as written, next to the files that they name. */
export const EXAMPLES: readonly (readonly [purpose: string, line: string])[] = [
  [
    'Serve what a file describes at http://localhost:9464/metrics',
    'shm_exporter --config shm_exporter.toml --enable-metrics-http',
  ],
  [
    'Write a license of 30 days for evaluation',
    'shm_license issue --licensee "My company" --days 30 --out license.json',
  ],
  [
    'Print one target every 10 seconds, without a file',
    'shm_exporter --license-file license.json --app adh --server-key 456',
  ],
  [
    'Check a file against the publishers that are running',
    'shm_exporter --config shm_exporter.toml --check-config --live',
  ],
];

export const STATUSES = {
  0: 'normal end',
  1: 'unexpected failure',
  2: 'wrong usage or configuration',
  3: 'license refused',
  4: 'listener, shared memory or the output of --once cannot be used',
  5: 'with --once: a target was not ready',
  6: 'license not valid yet: the clock may be wrong',
};

export const REFERENCE = `Options override the TOML file. The package has examples/shm_exporter.toml to
start from; see README.md, docs/configuration.md and docs/license.md, too.`;
