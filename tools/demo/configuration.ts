// The configuration files of the demo's bridge and exporter, and its temporary files.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SHM_FOLDER } from '#app/native/os/shared-memory.js';

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

/** The target of the component that the bridge publishes. The segment also contains the bridge's own root. */
export const BRIDGED = {
  app: 'ads',
  serverKey: '83',
  root: 'other-host.1.ads',
} as const satisfies DemoTarget;
export const BRIDGE_APP = 'shm_bridge';

/** The target for the JVMs of the host. */
export const JVMS = { app: 'jvm', serverKey: 'jvm' } as const;

/** The target for the workers of a shop in Python. */
export const SHOP = { app: 'shop', serverKey: 'shop' } as const;

interface NamedTarget {
  readonly app: string;
  readonly serverKey: string;
  readonly variable?: string;
}
/** The exporter's targets in the native segment format, in the order of the exporter's pages. */
const NATIVE: readonly NamedTarget[] = [
  ...TARGETS,
  BRIDGED,
  { app: BRIDGE_APP, serverKey: BRIDGED.serverKey },
];
/** All targets of the exporter. */
export const EXPORTED: readonly NamedTarget[] = [...NATIVE, JVMS, SHOP];

/** Metric name patterns by scope name. */
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

/** Seconds between two prints on stdout. */
export const INTERVAL_SECONDS = 3;

interface DemoPlaces {
  readonly contextId: string;
  readonly licenseFile: string;
  /** Directories with counter files of JVMs. */
  readonly jvmDirectories: readonly string[];
  /** The directory with the metric files of the shop. */
  readonly shopDirectory: string;
  readonly isStdout: boolean;
  readonly port: number;
}

/** The lines of a TOML table. JSON strings are valid TOML strings. */
const table = (entries: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(entries).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);

/** The text of the bridge's TOML file. */
export function bridgeConfiguration(contextId: string, url: string): string {
  const component = { name: BRIDGED.app, url, server_key: BRIDGED.serverKey, interval_ms: 1000 };
  const limits = { request_timeout_ms: 1000 };
  const lines = [
    ...table({ context_id: contextId }),
    '',
    '[[components]]',
    ...table({ ...component, ...limits }),
  ];
  return `${lines.join('\n')}\n`;
}

/** The text of the exporter's TOML file. */
export function configuration(places: DemoPlaces): string {
  const { contextId, licenseFile, jvmDirectories, shopDirectory, isStdout, port } = places;
  const lines = [
    ...table({
      context_id: contextId,
      license_file: licenseFile,
      metrics_http_enabled: !isStdout,
      metrics_bind_address: '127.0.0.1',
      metrics_port: port,
      metrics_interval_seconds: INTERVAL_SECONDS,
    }),
    ...NATIVE.flatMap(({ app, serverKey, variable }) => [
      '',
      '[[targets]]',
      ...table({ app, server_key: serverKey, ...(variable !== undefined && { variable }) }),
    ]),
    '',
    '[[targets]]',
    ...table({ app: JVMS.app, server_key: JVMS.serverKey, format: 'hsperfdata' }),
    `format_settings = { directories = ${JSON.stringify(jvmDirectories)} }`,
    '',
    '[[targets]]',
    ...table({ app: SHOP.app, server_key: SHOP.serverKey, format: 'multiprocess' }),
    `format_settings = { directories = ${JSON.stringify([shopDirectory])} }`,
    ...Object.entries(SCOPES).flatMap(([name, metrics]) => [
      '',
      '[[metric_scopes]]',
      ...table({ name, metrics }),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The temporary folder of a demo, and the segments of its context id. */
export class DemoFiles {
  readonly folder = mkdtempSync(join(tmpdir(), 'shm-demo-'));
  /** The name of the folder, which is unique, so demos never share segments. */
  readonly contextId = basename(this.folder);

  /** Writes a file into the folder and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Removes the folder, and the segments of publishers that were killed. */
  remove(): void {
    const isOurs = (name: string): boolean =>
      name.startsWith(`${this.contextId}.`) || name.startsWith(`.${this.contextId}.`);
    for (const name of readdirSync(SHM_FOLDER).filter(isOurs))
      rmSync(join(SHM_FOLDER, name), { force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }
}
