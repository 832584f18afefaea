// A target without shared memory, for tests of the sinks.
import { defer, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { selected } from '#app/exposition/page/scope.js';
import type {
  DemandAnswer,
  FamilyMetadata,
  FoundRoot,
  InternalMetric,
  FormatInfo,
  Scope,
  SyncProgress,
  Target,
  TargetStatus,
  TargetTimes,
  TreeAnswer,
  TreeQuery,
} from '#app/model.js';
import { internalFamilies } from '#app/targets/internal-metrics.js';
import { piecesOf, snapshotOf } from './snapshot-of.js';

const SYNCED: SyncProgress = {
  objects: { synced: 1, total: 1 },
  variables: { synced: 1, total: 1 },
  reason: '',
};

/** A target with fixed answers, which a test may change while it is served. */
export class FakeTarget implements Target {
  readonly app: string;
  readonly serverKeys: readonly string[];
  instance = '';
  keyLabels: Readonly<Record<string, string>> = {};
  isDiscovered = false;
  /** The labels of the target, which its text has already. */
  labels: Readonly<Record<string, string>> | undefined = {};
  format: FormatInfo = { name: 'native', certainty: 'every value is proven exact', notifies: true };
  lastRoot: FoundRoot | undefined;
  #root = '';
  isReady = true;
  progress = SYNCED;
  publisher: TargetStatus['publisher'] = { state: 'live', reason: 'publisher is live' };
  process: TargetStatus['process'];
  metrics: InternalMetric[] = [];
  /** The internal metrics that only `/-/metrics` has. */
  details: InternalMetric[] = [];
  /** The lines of its only family, without header lines. */
  text = 'demo_value 1\n';
  /** Whether its page has a value that OpenMetrics forbids. */
  violatesOpenMetrics = false;
  metadata: FamilyMetadata = { name: 'demo_value', type: 'gauge', unit: '', help: 'A value.' };
  /** The number of its pages that have not been released yet. */
  held = 0;
  demands = 0;
  ages: TargetTimes = { sinceSeconds: 0, newest: undefined };
  /** Whether it has a text whose families the status page can list. */
  hasText = true;
  /** The answer to queries of its tree. `queries` records the queries. */
  answer: TreeAnswer = { kind: 'no-object' };
  readonly queries: TreeQuery[] = [];

  constructor(app = 'ads', serverKeys: readonly string[] = ['82'], root = 'H.1.ads') {
    this.app = app;
    this.serverKeys = serverKeys;
    this.root = root;
  }

  get root(): string {
    return this.#root;
  }
  set root(id: string) {
    this.#root = id;
    if (id !== '') this.lastRoot = { serverKey: this.serverKeys[0] ?? '', id };
  }

  /** Makes the target unready, with this progress. */
  wait(progress: SyncProgress): this {
    this.isReady = false;
    this.progress = progress;
    return this;
  }

  status(): TargetStatus {
    const { app, root, isReady, progress, publisher, process } = this;
    const serverKey = this.serverKeys[0] ?? '';
    return { app, serverKey, root, isReady, progress, publisher, process, partition: 0 };
  }

  internal(): InternalMetric[] {
    return this.metrics;
  }

  times(): TargetTimes {
    return this.ages;
  }

  get lastFamilies(): readonly FamilyMetadata[] | undefined {
    return this.hasText && this.isReady ? [this.metadata] : undefined;
  }

  queryTree(query: TreeQuery): Observable<TreeAnswer> {
    return defer(() => {
      this.queries.push(query);
      return of(this.answer);
    });
  }

  internalDetails(): readonly InternalMetric[] {
    return this.details;
  }

  demand(scope?: Scope): Observable<DemandAnswer> {
    return defer(() => {
      this.demands++;
      return of(this.demandAnswer(scope));
    });
  }

  demandAnswer(scope?: Scope): DemandAnswer {
    const status = this.status();
    if (!this.isReady) return { kind: 'waiting', status };
    const hold = () => {
      this.held++;
      return () => this.held--;
    };
    const { violatesOpenMetrics } = this;
    const snapshot = snapshotOf(piecesOf(this.metadata, [this.text]), {
      hold,
      violatesOpenMetrics,
    });
    const selection = scope === undefined ? snapshot : selected(snapshot, scope).selection;
    const internal = internalFamilies(this.metrics, status, scope);
    const { labels } = this;
    return { kind: 'ready', snapshot: selection, internal, status, labels };
  }
}
