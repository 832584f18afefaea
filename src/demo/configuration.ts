// The configuration that the demo gives the exporter: three targets, and scopes worth having.

export interface DemoTarget {
  readonly app: string;
  readonly serverKey: string;
  readonly root: string;
  readonly variable?: string;
}

export const TARGETS = [
  {
    app: 'ads',
    serverKey: '82',
    root: 'demo-host.1.ads',
    variable: 'userDatabase.activeUsers',
  },
  { app: 'adh', serverKey: '456', root: 'demo-host.1.adh' },
  { app: 'ats', serverKey: '999', root: 'demo-host.1.ats' },
] as const satisfies readonly DemoTarget[];

/** Patterns by the name of the scope; each scope has a page for every target. */
export const SCOPES = {
  overview: [
    '*_process_health_level',
    '*_process_start_time_seconds',
    '*_num_clients',
    'shm_exporter_internal_target_ready',
  ],
  clients: ['*_num_clients', 'ads_client_*', 'adh_source_mount_*', 'ats_client_*'],
  latency: ['*_latency_seconds', 'adh_source_channel_round_trip_seconds', 'ats_engine_*_seconds'],
  exporter: ['shm_exporter_*'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Seconds from print to print on stdout. */
export const INTERVAL_SECONDS = 3;

export interface DemoPlaces {
  readonly contextId: string;
  readonly licenseFile: string;
  readonly isStdout: boolean;
  readonly port: number;
}

/** The text of the TOML file. Strings are written as JSON, which TOML reads the same. */
export function configuration({ contextId, licenseFile, isStdout, port }: DemoPlaces): string {
  const table = (entries: Readonly<Record<string, unknown>>): readonly string[] =>
    Object.entries(entries).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const lines = [
    ...table({
      context_id: contextId,
      license_file: licenseFile,
      metrics_http_enabled: !isStdout,
      metrics_bind_address: '127.0.0.1',
      metrics_port: port,
      metrics_interval_seconds: INTERVAL_SECONDS,
    }),
    ...TARGETS.flatMap(({ app, serverKey, ...more }) => [
      '',
      '[[targets]]',
      ...table({
        app,
        server_key: serverKey,
        ...('variable' in more && { variable: more.variable }),
      }),
    ]),
    ...Object.entries(SCOPES).flatMap(([name, metrics]) => [
      '',
      '[[metric_scopes]]',
      ...table({ name, metrics }),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}
