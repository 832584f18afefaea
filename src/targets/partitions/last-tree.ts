// Answers queries of the tree of a publisher that died or hangs, with the last values in its segment.
import { defer, finalize } from 'rxjs';
import type { Observable } from 'rxjs';
import { wallClockMs } from '../../clock.js';
import { Fault, isSystemError } from '../../errors.js';
import { LastExplainer } from '../../exposition/query/explain-last.js';
import type { LastTreeSettings } from '../../exposition/query/explain-last.js';
import { queryTreeOf } from '../../exposition/query/tree-query.js';
import { SlotCopies } from '../../exposition/read/node-values.js';
import type { FoundRoot, LastSeen, TreeAnswer, TreeQuery } from '../../model.js';
import { choose } from '../../streams/choose-root.js';
import type { LastValues } from '../../streams/poller.js';
import { resultWithoutSource } from '../../streams/poller.js';
import type { PollerPool } from '../../streams/poller-pool.js';
import type { Scheduler } from '../../streams/scheduler.js';
import type { TargetDefinition } from '../formats.js';

interface LastTreeParts {
  readonly definition: TargetDefinition;
  readonly pool: PollerPool;
  readonly tasks: Scheduler;
  /** The last root of the target, which is shown again if it is there. */
  readonly formerRoot: FoundRoot | undefined;
  readonly settings: () => LastTreeSettings;
  /** Why the target has no tree. */
  readonly reason: () => string;
}

/**
 * Reads the segment anew for each query, and keeps nothing of it: most such trees are never asked for. Emits one
 * answer. Unsubscribing closes the segment.
 */
export const queryLastTree = (parts: LastTreeParts, query: TreeQuery): Observable<TreeAnswer> =>
  defer(() => {
    let opened: LastValues | undefined;
    const close = (): void => {
      opened?.close();
      opened = undefined;
    };
    function* steps(): Generator<void, TreeAnswer> {
      const { pool, definition, formerRoot } = parts;
      for (const serverKey of keysOf(definition, formerRoot))
        try {
          opened = pool.openLast(serverKey);
          if (opened === undefined) continue;
          const answer = yield* answerOf(opened, serverKey, parts, query);
          if (answer !== undefined) return answer;
        } catch (error) {
          // A segment that cannot be read has no last values.
          if (!(error instanceof Fault) && !isSystemError(error)) throw error;
        } finally {
          close();
        }
      return { kind: 'no-tree', reason: parts.reason() };
    }
    return parts.tasks.run(steps).pipe(finalize(close));
  });

/** The server keys of a target; that of its last root comes first. */
const keysOf = (
  { serverKeys }: TargetDefinition,
  formerRoot: FoundRoot | undefined,
): readonly string[] =>
  serverKeys.toSorted(
    (one, other) => Number(other === formerRoot?.serverKey) - Number(one === formerRoot?.serverKey),
  );

function* answerOf(
  last: LastValues,
  serverKey: string,
  { definition: { app, instance: hint }, pool, formerRoot, settings }: LastTreeParts,
  query: TreeQuery,
): Generator<void, TreeAnswer | undefined> {
  const { source } = last;
  while (last.readMore()) yield;
  const { publisher } = pool.lastPolled(serverKey);
  const result = { ...resultWithoutSource(serverKey, publisher), source };
  const choice = choose([result], { app, hint, formerRoot });
  if (choice.kind === 'none') return undefined;
  const { root } = choice;
  const answer = yield* queryTreeOf(
    {
      ...{ root, source, tracked: undefined },
      explainer: new LastExplainer(root, settings()),
      isClosed: () => false,
    },
    query,
  );
  if (answer.kind !== 'part') return answer;
  const asOfNs = root.asOf && new SlotCopies(source).bits(root.asOf);
  const seen: LastSeen =
    asOfNs === undefined
      ? { ageSeconds: last.ageSeconds, by: 'heartbeat' }
      : { ageSeconds: (wallClockMs() - Number(asOfNs / 1_000_000n)) / 1000, by: 'stated' };
  return { ...answer, last: seen };
}
