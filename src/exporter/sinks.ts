// Every sink that the service can end in, one row each.
import type { Settings } from '../config/settings.js';
import { notReadyText } from '../exposition/page/not-ready-text.js';
import { OPEN_METRICS } from '../exposition/page/open-metrics.js';
import { jsonDocument, textDocument } from '../exposition/page/stdout-document.js';
import { TEXT } from '../exposition/page/text-format.js';
import type { TargetEvent } from '../model.js';
import { httpSink } from '../sinks/http/http.js';
import type { SelfMetrics } from '../sinks/self-metrics.js';
import type { Sink } from '../sinks/sink.js';
import { stdoutSink } from '../sinks/stdout/stdout.js';
import type { DocumentWriter } from '../sinks/stdout/stdout.js';
import type { ScopeRegistry } from './scope-registry.js';

/** What the service offers to a sink. */
export interface SinkParts {
  readonly settings: Settings;
  readonly scopes: ScopeRegistry;
  /** For the sink's own counters. */
  readonly selfMetrics: SelfMetrics;
  readonly version: string;
  readonly stdout: () => DocumentWriter;
  /** Reads the configuration again; returns why it was refused, if it was. */
  readonly reload: () => readonly string[];
  readonly log: (event: TargetEvent) => void;
}

export interface SinkRow {
  readonly isChosen: (settings: Settings) => boolean;
  readonly make: (parts: SinkParts) => Sink;
}

/** The first row that the settings choose is used; the last row is the default. */
export const SINKS: readonly SinkRow[] = [
  { isChosen: ({ metricsHttpEnabled }) => metricsHttpEnabled, make: makeHttp },
  { isChosen: () => true, make: makeStdout },
];

export function chosenSink(rows: readonly SinkRow[], parts: SinkParts): Sink {
  const row = rows.find(({ isChosen }) => isChosen(parts.settings));
  if (row === undefined) throw new Error('The settings choose no sink');
  return row.make(parts);
}

function makeHttp({ settings, scopes, selfMetrics, version, reload, log }: SinkParts): Sink {
  return httpSink({
    address: settings.metricsBindAddress,
    port: settings.metricsPort,
    responseMs: settings.httpResponseTimeoutSeconds * 1000,
    headerMs: settings.httpHeaderTimeoutSeconds * 1000,
    maxHeaderBytes: settings.httpMaxHeaderBytes,
    maxConnections: settings.httpMaxConnections,
    maxScrapes: settings.httpMaxScrapes,
    path: settings.metricsPath,
    formats: [TEXT, OPEN_METRICS],
    scope: (name) => scopes.get(name),
    scopeNames: (target) => scopes.namesFor(target),
    notReady: notReadyText,
    selfMetrics,
    version,
    reload: settings.httpReloadEnabled ? reload : undefined,
    log: (message) => {
      log({ level: 'warning', message });
    },
  });
}

function makeStdout({ settings, stdout }: SinkParts): Sink {
  return stdoutSink({
    intervalSeconds: settings.metricsIntervalSeconds,
    document: settings.stdoutFormat === 'json' ? jsonDocument : textDocument,
    write: stdout(),
  });
}
