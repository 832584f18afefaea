// The table of sinks, and functions that make each sink from the settings.
import { join } from 'node:path';
import { EMPTY, catchError, merge, of } from 'rxjs';
import { monotonicMs } from '../clock.js';
import type { Config } from '../config/resolve.js';
import { SETTINGS } from '../config/settings.js';
import type { Settings } from '../config/settings.js';
import { prefixFault, prefixedFault } from '../errors.js';
import { joinSnapshots } from '../exposition/page/joined-snapshot.js';
import { mergedDocument } from '../exposition/page/merged-document.js';
import { once } from '../exposition/memoize.js';
import { OPEN_METRICS, OPEN_METRICS_CREATED } from '../exposition/page/open-metrics.js';
import { PROTOBUF } from '../exposition/page/protobuf.js';
import { jsonDocument, textDocument } from '../exposition/page/stdout-document.js';
import { TEXT, notReadyText } from '../exposition/page/text-page.js';
import type { TargetEvent } from '../model.js';
import { NO_GUARD } from '../sinks/http/http-server.js';
import type { Guard } from '../sinks/http/http-server.js';
import { httpSink } from '../sinks/http/http.js';
import type { HttpOptions } from '../sinks/http/http.js';
import type { ReloadAnswer } from '../sinks/http/dispatch.js';
import type { ProcessInfo } from '../sinks/http/pages/status-page.js';
import type { SelfMetrics } from '../sinks/self-metrics.js';
import { isLabelled } from '../sinks/sink.js';
import type { Sink, SinkEvent } from '../sinks/sink.js';
import { stdoutSink } from '../sinks/stdout/stdout.js';
import type { DocumentWriter, Documents } from '../sinks/stdout/stdout.js';
import { fileWriter, removedAtEnd } from '../sinks/textfile/file-writer.js';
import { pluralize } from '../pluralize.js';
import { NotWritten } from '../stdio/print.js';
import { passwordThread } from '../web-config/threads/compare-in-thread.js';
import { WatchedWebConfig } from '../web-config/watched-web-config.js';
import { isLoopback, listenAddresses, listenerName } from './listeners.js';
import type { ScopeRegistry } from './scopes.js';
import { webConfigMetrics } from './service-metrics.js';
import { webGuard } from './web-guard.js';

/** The parts of the process that sinks use. */
export interface SinkProcess {
  readonly unixMs: () => number;
  readonly stdout: () => DocumentWriter;
  /** Whether the process ends after one snapshot. */
  readonly isOnce: boolean;
  /**
   * The maximum number of connections that the limit of open files allows. By default, only the setting limits the
   * connections.
   */
  readonly maxConnections?: number | undefined;
  /** Descriptors of the sockets that systemd passed (socket activation). */
  readonly sockets: readonly number[];
  readonly reload: () => ReloadAnswer;
  readonly log: (event: TargetEvent) => void;
}

/** The parts of the service that sinks use. */
export interface SinkContext extends SinkProcess {
  readonly settings: Settings;
  readonly nameOf: Config['nameOf'];
  readonly scopes: ScopeRegistry;
  /** Whether the current configuration has a host page. */
  readonly hasHostPage: () => boolean;
  /** The registry for the sink's own metrics. */
  readonly selfMetrics: SelfMetrics;
  /** Returns the current data about the process. */
  readonly service: () => ProcessInfo;
}

export interface SinkRow {
  readonly isChosen: (settings: Settings) => boolean;
  readonly make: (context: SinkContext) => Sink;
}

/** The path of the textfile. node_exporter reads files that end in `.prom`. */
export const textfileOf = ({ textfileDir }: Settings): string =>
  join(textfileDir, 'shm_exporter.prom');

/** The service uses the first row that the settings choose. The last row is the default. */
export const SINKS: readonly SinkRow[] = [
  { isChosen: ({ metricsHttpEnabled }) => metricsHttpEnabled, make: makeHttp },
  { isChosen: ({ textfileDir }) => textfileDir !== '', make: makeTextfile },
  { isChosen: () => true, make: makeStdout },
];

export function chosenSink(rows: readonly SinkRow[], context: SinkContext): Sink {
  const row = rows.find(({ isChosen }) => isChosen(context.settings));
  if (row === undefined) throw new Error('No output is configured');
  return row.make(context);
}

function makeHttp(context: SinkContext): Sink {
  const name = listenerName(context);
  const sink = prefixFault(name, () => httpSink(httpOptions(context)));
  return (registry) =>
    sink(registry).pipe(
      catchError((thrown: unknown) => {
        throw prefixedFault(name, thrown);
      }),
    );
}

function httpOptions(context: SinkContext): HttpOptions {
  const { settings, scopes, selfMetrics, service, unixMs } = context;
  const { sockets, maxConnections = Infinity, reload, log, hasHostPage } = context;
  const report = once(() => leftOutReport('host page', context));
  const addresses = listenAddresses(settings, sockets);
  const openMetrics = settings.openmetricsCreatedLines ? OPEN_METRICS_CREATED : OPEN_METRICS;
  const guard = guardOf(settings, log, selfMetrics);
  return {
    ...{ addresses, guard, service, unixMs },
    responseMs: settings.httpResponseTimeoutSeconds * 1000,
    headerMs: settings.httpHeaderTimeoutSeconds * 1000,
    maxHeaderBytes: settings.httpMaxHeaderBytes,
    maxConnections: Math.min(settings.httpMaxConnections, maxConnections),
    maxScrapes: settings.httpMaxScrapes,
    path: settings.metricsPath,
    formats: [TEXT, openMetrics, PROTOBUF],
    scope: (name) => scopes.get(name),
    scopeNames: (target) => scopes.namesFor(target),
    notReady: notReadyText,
    selfMetrics,
    hasTrees: settings.httpTreeEnabled,
    dumpCommand: (serverKey) => dumpCommand(settings, serverKey),
    showsUnreadTexts: () => guard.authenticatesClients() || addresses.every(isLoopback),
    hostPage: {
      isEnabled: hasHostPage,
      onLeftOut: (sentences) => {
        report()(sentences);
      },
    },
    reload: settings.httpReloadEnabled ? reload : undefined,
    log: (message) => {
      log({ level: 'warning', message });
    },
  };
}

/** The command that dumps the segment of a server key. Omits default values: shm_dump has the same defaults. */
function dumpCommand({ contextId, poolName }: Settings, serverKey: string): string {
  const options = [
    ...(contextId === SETTINGS.contextId.fallback ? [] : ['--context-id', contextId]),
    ...(poolName === SETTINGS.poolName.fallback ? [] : ['--pool-name', poolName]),
  ];
  return ['shm_dump', ...options, '--server-key', serverKey].join(' ');
}

function guardOf(
  { webConfigFile }: Settings,
  log: SinkContext['log'],
  selfMetrics: SelfMetrics,
): Guard {
  if (webConfigFile === '') return NO_GUARD;
  const tell = webConfigMetrics(selfMetrics);
  const config = new WatchedWebConfig(webConfigFile, monotonicMs, log, tell);
  const thread = passwordThread();
  if (config.current.users.size > 0) thread.start();
  return webGuard(config, thread.compare, monotonicMs, (message) => {
    log({ level: 'warning', message });
  });
}

function makeStdout(context: SinkContext): Sink {
  const { settings, stdout, isOnce } = context;
  const opened: SinkEvent = { kind: 'opened', where: 'stdout' };
  const print = stdoutSink({
    isOnce,
    intervalSeconds: settings.metricsIntervalSeconds,
    documents: DOCUMENTS[settings.stdoutFormat](context),
    write: stdout(),
    slow: 'the reader of stdout is too slow',
  });
  return (registry) => merge(of(opened), print(registry));
}

const DOCUMENTS: Readonly<Record<Settings['stdoutFormat'], (context: SinkContext) => Documents>> = {
  text: () => ({ kind: 'each', document: textDocument }),
  json: () => ({ kind: 'each', document: jsonDocument }),
  merged: mergedDocuments,
};

function mergedDocuments(context: SinkContext): Documents {
  const report = leftOutReport('merged document', context);
  return {
    kind: 'merged',
    merge: (answers, targets) => {
      const joined = joinSnapshots(answers.filter(isLabelled));
      report(joined.leftOut);
      return mergedDocument(joined, context.selfMetrics.ownText(targets));
    },
  };
}

/**
 * Makes a function that counts the metrics that a document of all targets leaves out, and logs when they change.
 * @param name of the document in the log
 */
function leftOutReport(
  name: string,
  { selfMetrics, log }: Pick<SinkContext, 'selfMetrics' | 'log'>,
): (sentences: readonly string[]) => void {
  const setClashing = selfMetrics.gauge(
    'shm_exporter_merged_clashing_metrics',
    `Metrics that the last ${name} left out because they conflict with metrics of other targets.`,
  );
  let last = '';
  return (sentences) => {
    setClashing(sentences.length);
    const present = sentences.join('\n');
    if (present === last) return;
    last = present;
    log(
      sentences[0] === undefined
        ? { level: 'info', message: `the ${name} has the metrics of all targets again` }
        : {
            level: 'warning',
            message: `the ${name} leaves out ${pluralize(sentences.length, 'metric')} because of conflicts with metrics of other targets; ${sentences[0]}; rename the omitted metric, or give it the same type as the other metric, in its catalogue or at its publisher; targets need different labels`,
          },
    );
  };
}

function makeTextfile(context: SinkContext): Sink {
  const { settings, nameOf, isOnce } = context;
  const path = textfileOf(settings);
  const name = nameOf(['textfile_dir']);
  const print = stdoutSink({
    isOnce,
    intervalSeconds: settings.metricsIntervalSeconds,
    documents: mergedDocuments(context),
    write: namedWriter(fileWriter(path), name),
    slow: `${name}: the last snapshot is not yet written to ${path}`,
  });
  const opened: SinkEvent = { kind: 'opened', where: path };
  return (registry) => merge(of(opened), print(registry), isOnce ? EMPTY : removedAtEnd(path));
}

/** Adds the name of a setting to the error of a document that could not be written. */
const namedWriter =
  (write: DocumentWriter, name: string): DocumentWriter =>
  (document) =>
    write(document).pipe(
      catchError((thrown: unknown) => {
        throw thrown instanceof NotWritten
          ? new NotWritten(`${name}: ${thrown.message}`)
          : (thrown as Error);
      }),
    );
