// RefreshLog records refreshes and their reports, and checks their order.
import { defer, finalize, tap } from 'rxjs';
import type { Refresh } from '#app/model.js';
import type { RefreshReport, Report } from '#app/streams/report.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { Partition } from '#app/targets/partitions/logical-partition.js';
import type { Interleavings, OperationKind } from './interleavings.js';
import type { PageModel, Stamp } from './page-model.js';

/** One refresh of a target. */
export interface LoggedRefresh {
  readonly definition: TargetDefinition;
  readonly mayRender: boolean;
  readonly sent: Stamp;
  reported: Stamp | undefined;
  hasRendered: boolean;
}

/** A target that runs in a partition. */
interface Running {
  readonly tag: string;
  open: LoggedRefresh | undefined;
  /** Whether the last report said that the target is ready. */
  isReady: boolean;
  /** The functions that end the operations in progress. */
  readonly operations: Map<OperationKind, () => void>;
}

/** Returns the text that identifies a target: its server keys. */
export const tagOf = ({ serverKeys }: Pick<TargetDefinition, 'serverKeys'>): string =>
  serverKeys.join('+');

export class RefreshLog {
  readonly #model: PageModel;
  readonly #interleavings: Interleavings;
  readonly #fail: (what: string) => void;
  readonly #running = new Set<Running>();
  readonly #reported = new Map<string, LoggedRefresh[]>();

  constructor(model: PageModel, interleavings: Interleavings, fail: (what: string) => void) {
    this.#model = model;
    this.#interleavings = interleavings;
    this.#fail = fail;
  }

  /** Returns the refreshes of a target that have a report, in the order of their reports. */
  reported(tag: string): readonly LoggedRefresh[] {
    return this.#reported.get(tag) ?? [];
  }

  isOpen(tag: string): boolean {
    return this.#opens(tag).length > 0;
  }

  /** Wraps a partition so that its refreshes and reports are recorded. */
  logged(partition: Partition): Partition {
    return {
      number: partition.number,
      host: (definition, formerRoot) => {
        const running: Running = {
          ...{ tag: tagOf(definition), operations: new Map(), open: undefined },
          isReady: false,
        };
        const hosted = partition.host(definition, formerRoot);
        const report$ = defer(() => {
          this.#running.add(running);
          this.#begin(running, 'start');
          return hosted.report$.pipe(
            tap((report) => {
              this.#onReport(running, report);
              if (report.kind === 'refreshed') this.#onRefreshed(running, report);
            }),
            finalize(() => {
              this.#running.delete(running);
              for (const end of running.operations.values()) end();
            }),
          );
        });
        return {
          report$,
          refresh: (refresh) => {
            this.#onRefresh(running, definition, refresh);
            return hosted.refresh(refresh);
          },
          queryTree: (query) => hosted.queryTree(query),
        };
      },
      close: () => {
        partition.close();
      },
    };
  }

  #onRefresh(running: Running, definition: TargetDefinition, { mayRender }: Refresh): void {
    const { tag } = running;
    if (this.isOpen(tag)) this.#fail(`${tag}: a refresh is sent while another is open`);
    this.#begin(running, 'refresh');
    const sent = this.#model.stamp();
    running.open = { definition, mayRender, sent, reported: undefined, hasRendered: false };
  }

  #onReport(running: Running, report: Report): void {
    if ('state' in report) running.isReady = report.state.isReady;
    if (running.isReady) running.operations.get('start')?.();
  }

  #onRefreshed(running: Running, report: RefreshReport): void {
    running.operations.get('refresh')?.();
    const { tag, open } = running;
    running.open = undefined;
    if (open === undefined) {
      this.#fail(`${tag}: a report of a refresh that is not open`);
      return;
    }
    open.reported = this.#model.stamp();
    open.hasRendered = report.hasRendered;
    this.#reported.set(tag, [...(this.#reported.get(tag) ?? []), open]);
  }

  #begin({ tag, operations }: Running, kind: OperationKind): void {
    operations.get(kind)?.();
    operations.set(kind, this.#interleavings.begin(kind, tag));
  }

  #opens(tag: string): Running[] {
    return [...this.#running].filter((each) => each.tag === tag && each.open !== undefined);
  }
}
