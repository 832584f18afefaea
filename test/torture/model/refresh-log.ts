// Notes which hosting is sent which refresh, and what it reports; says where that breaks the rules.
import { defer, finalize, tap } from 'rxjs';
import type { Report } from '#app/streams/report.js';
import type { Refresh } from '#app/streams/target-inputs.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { Partition } from '#app/targets/hosting/partition.js';
import type { Meetings, SpanKind } from './meetings.js';
import type { PageModel, Stamp } from './page-model.js';

/** One refresh of a target. */
export interface NotedRefresh {
  readonly definition: TargetDefinition;
  readonly mayRender: boolean;
  readonly sent: Stamp;
  reported: Stamp | undefined;
  hasRendered: boolean;
}

/** A hosting that runs. */
interface Running {
  readonly tag: string;
  open: NotedRefresh | undefined;
  /** Whether it reported so last. */
  isReady: boolean;
  /** What ends the spans that are under way. */
  readonly spans: Map<SpanKind, () => void>;
}

/** What tells a target from others: its server keys. */
export const tagOf = ({ serverKeys }: Pick<TargetDefinition, 'serverKeys'>): string =>
  serverKeys.join('+');

export class RefreshLog {
  readonly #model: PageModel;
  readonly #meetings: Meetings;
  readonly #wrong: (what: string) => void;
  readonly #running = new Set<Running>();
  readonly #reported = new Map<string, NotedRefresh[]>();

  constructor(model: PageModel, meetings: Meetings, wrong: (what: string) => void) {
    this.#model = model;
    this.#meetings = meetings;
    this.#wrong = wrong;
  }

  /** The refreshes of a target that were reported, in that order. */
  reported(tag: string): readonly NotedRefresh[] {
    return this.#reported.get(tag) ?? [];
  }

  isOpen(tag: string): boolean {
    return this.#opens(tag).length > 0;
  }

  /** The same partition, with all that goes in and out noted. */
  noting(partition: Partition): Partition {
    return {
      number: partition.number,
      host: (definition, former) => {
        const running: Running = {
          ...{ tag: tagOf(definition), spans: new Map(), open: undefined },
          isReady: false,
        };
        const hosted = partition.host(definition, former);
        const report$ = defer(() => {
          this.#running.add(running);
          this.#begin(running, 'start');
          return hosted.report$.pipe(
            tap((report) => {
              this.#hear(running, report);
            }),
            finalize(() => {
              this.#running.delete(running);
              for (const end of running.spans.values()) end();
            }),
          );
        });
        return {
          report$,
          send: (refresh) => {
            this.#send(running, definition, refresh);
            hosted.send(refresh);
          },
          queryTree: (query) => hosted.queryTree(query),
        };
      },
      close: () => {
        partition.close();
      },
    };
  }

  #send(running: Running, definition: TargetDefinition, { mayRender }: Refresh): void {
    const { tag } = running;
    if (this.isOpen(tag)) this.#wrong(`${tag}: a refresh is sent while another is open`);
    this.#begin(running, 'refresh');
    const sent = this.#model.stamp();
    running.open = { definition, mayRender, sent, reported: undefined, hasRendered: false };
  }

  #hear(running: Running, report: Report): void {
    if ('facts' in report) running.isReady = report.facts.isReady;
    if (running.isReady) running.spans.get('start')?.();
    if (report.kind !== 'refreshed') return;
    running.spans.get('refresh')?.();
    const { tag, open } = running;
    running.open = undefined;
    if (open === undefined) {
      this.#wrong(`${tag}: a report of a refresh that is not open`);
      return;
    }
    open.reported = this.#model.stamp();
    open.hasRendered = report.hasRendered;
    this.#reported.set(tag, [...(this.#reported.get(tag) ?? []), open]);
  }

  #begin({ tag, spans }: Running, kind: SpanKind): void {
    spans.get(kind)?.();
    spans.set(kind, this.#meetings.begin(kind, tag));
  }

  #opens(tag: string): Running[] {
    return [...this.#running].filter((each) => each.tag === tag && each.open !== undefined);
  }
}
