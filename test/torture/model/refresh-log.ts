// Notes which hosting is sent which refresh, and what it reports; says where that breaks the rules.
import { defer, finalize, tap } from 'rxjs';
import type { Command } from '#app/streams/command.js';
import type { Report } from '#app/streams/report.js';
import type { TargetDefinition } from '#app/targets/definition.js';
import type { Partition } from '#app/targets/hosting/partition.js';
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
}

/** What tells a target from others: its server keys. */
export const tagOf = ({ serverKeys }: Pick<TargetDefinition, 'serverKeys'>): string =>
  serverKeys.join('+');

export class RefreshLog {
  readonly #model: PageModel;
  readonly #wrong: (what: string) => void;
  readonly #running = new Set<Running>();
  readonly #reported = new Map<string, NotedRefresh[]>();

  constructor(model: PageModel, wrong: (what: string) => void) {
    this.#model = model;
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
      host: (definition, options) => {
        const running: Running = { tag: tagOf(definition), open: undefined };
        const hosted = partition.host(definition, options);
        const report$ = defer(() => {
          this.#running.add(running);
          return hosted.report$.pipe(
            tap((report) => {
              this.#hear(running, report);
            }),
            finalize(() => this.#running.delete(running)),
          );
        });
        return {
          report$,
          send: (command) => {
            this.#send(running, definition, command);
            hosted.send(command);
          },
          look: (question) => hosted.look(question),
        };
      },
      close: () => {
        partition.close();
      },
    };
  }

  #send(running: Running, definition: TargetDefinition, command: Command): void {
    const { tag } = running;
    if (command.kind === 'take-over') return;
    if (this.isOpen(tag)) this.#wrong(`${tag}: ${command.kind} is sent while a refresh is open`);
    if (command.kind === 'leave') return;
    const { mayRender } = command;
    const sent = this.#model.stamp();
    running.open = { definition, mayRender, sent, reported: undefined, hasRendered: false };
  }

  #hear(running: Running, report: Report): void {
    if (report.kind !== 'refreshed') return;
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

  #opens(tag: string): Running[] {
    return [...this.#running].filter((each) => each.tag === tag && each.open !== undefined);
  }
}
