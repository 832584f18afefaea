// Tests calls of `refresh()` of a target: the report, the failure, and what happens if the hosting changes
// meanwhile.
import { EMPTY, merge, mergeMap, tap, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import { unknownState } from '#app/streams/report.js';
import type { RefreshReport, Report } from '#app/streams/report.js';
import { Handover } from '#app/targets/handover.js';
import type { HostedTarget } from '#app/targets/partitions/logical-partition.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';
import { marbles } from '../../support/marbles.js';

const counted = { tasks: [], counts: newCounters() };
const stateOf = (isReady: boolean) => ({ ...unknownState('82'), isReady });
const state = (isReady: boolean): Report => ({
  kind: 'state',
  state: stateOf(isReady),
  ...counted,
});
const shown = { hasRendered: true, isDirty: false, snapshot: undefined };
const refreshed: RefreshReport = { kind: 'refreshed', state: stateOf(true), ...counted, ...shown };

/** In the diagrams, a hosting reports `r` (ready) or `n` (not ready), and answers a refresh with `a`. */
const reports = { r: state(true), n: state(false) };
const answers = { a: refreshed };
const REFRESH = { kind: 'refresh', mayRender: true, forms: [] } as const;
const definition = definitionOf();

/** A partition whose only target has these reports and answers. */
const partitionOf = (
  number: number,
  report$: Observable<Report>,
  answer$: Observable<RefreshReport>,
) => ({
  number,
  host: (): HostedTarget => ({ report$, refresh: () => answer$, queryTree: () => EMPTY }),
  close: () => undefined,
});

interface Picture {
  readonly title: string;
  /** The reports of the serving hosting and of the standby, and the answer of both to a refresh. */
  readonly first: string;
  readonly standby: string;
  readonly answered: string;
  /** When the target moves. */
  readonly moves: string;
  /** The result of the refresh. */
  readonly report: string;
  /** When the subscriber of the refresh unsubscribes. */
  readonly leaves?: string;
  /** The subscriptions to the answers of the serving hosting and of the standby. */
  readonly asked: string;
  readonly askedNext: string;
}

describe('a refresh of a target', () => {
  const pictures: readonly Picture[] = [
    {
      title: 'emits the report of the serving hosting, and completes',
      ...{ first: 'r--------', answered: '   ---a', report: ' ---(a|)' },
      ...{ standby: ' -', moves: '-', asked: '^--!', askedNext: '' },
    },
    {
      title: 'fails if the partition fails before the report, for example because its thread ends',
      ...{ first: 'r-#', answered: '---a', report: '--#' },
      ...{ standby: '-', moves: '-', asked: '^-!', askedNext: '' },
    },
    {
      title: 'fails at once while the partition has failed',
      ...{ first: '#', answered: '---a', report: '#' },
      ...{ standby: '-', moves: '-', asked: '', askedNext: '' },
    },
    {
      title: 'cancels its call to the partition when its subscriber unsubscribes',
      ...{ first: 'r-------', answered: '-----a', report: '-', leaves: '^--!' },
      ...{ standby: '-', moves: '-', asked: '^--!', askedNext: '' },
    },
    {
      title: 'calls the standby if the standby takes over before the report',
      ...{ first: 'r-------', answered: '-----a', report: '-------(a|)' },
      ...{ standby: '-r', moves: '-m', asked: '^-!', askedNext: '--^----!' },
    },
  ];
  for (const {
    title,
    first,
    answered,
    report,
    leaves,
    standby,
    moves,
    asked,
    askedNext,
  } of pictures)
    it(
      title,
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const [own$, next$] = [cold(answered, answers), cold(answered, answers)];
        const partition = partitionOf(1, cold(first, reports), own$);
        const other = partitionOf(2, cold(standby, reports), next$);
        const handover = new Handover({ definition, partition });
        const change$ = moves.includes('m')
          ? timer(moves.indexOf('m')).pipe(mergeMap(() => handover.change({ partition: other })))
          : EMPTY;
        const { subscription } = follow(merge(handover.run(), change$));
        expectObservable(handover.refresh(REFRESH), leaves).toBe(
          report,
          answers,
          new Error('partition 1 failed: error'),
        );
        expectSubscriptions(own$.subscriptions).toBe(asked === '' ? [] : asked);
        expectSubscriptions(next$.subscriptions).toBe(askedNext === '' ? [] : askedNext);
        follow(
          timer(50).pipe(
            tap(() => {
              subscription.unsubscribe();
            }),
          ),
        );
      }),
    );
});
