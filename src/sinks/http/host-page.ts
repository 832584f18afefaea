// The host page: the metrics of all targets in one page.
import { Observable, concatMap, finalize, map, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { SLICE_MS } from '../../budget.js';
import { monotonicMs } from '../../clock.js';
import { joining } from '../../exposition/page/joined-snapshot.js';
import { sampleText } from '../../exposition/text/text-syntax.js';
import type {
  FamilyLines,
  FamilyMetadata,
  LineForm,
  PageContent,
  Scope,
  Target,
} from '../../model.js';
import { demandAll, identitiesOf, isLabelled } from '../sink.js';

export interface HostPageOptions {
  /** Whether the page exists. */
  readonly isEnabled: () => boolean;
  /** Called for each page without filters, with the reasons why metrics are left out, one sentence each. */
  readonly onLeftOut: (sentences: readonly string[]) => void;
  readonly scheduler?: SchedulerLike;
}

/** Selects the targets and metrics of a page. An empty list of apps or server keys selects all. */
export interface HostPageRequest {
  readonly apps: readonly string[];
  readonly serverKeys: readonly string[];
  readonly scope: Scope | undefined;
  readonly form: LineForm;
  /** The time after which the client gives up, if it states one. */
  readonly timeoutSeconds?: number;
}

/** The metrics of a page. The snapshot stays valid until `release` is called. */
interface HeldContent {
  readonly content: PageContent;
  readonly release: () => void;
}

/** The path of the host page. */
export const HOST_PATH = '/-/all';

/**
 * A target that has not answered after this time, or after half of the client's timeout, counts as down, so that it
 * does not delay the others.
 */
const MAX_WAIT_MS = 5000;

const UP: FamilyMetadata = {
  name: 'shm_target_up',
  type: 'gauge',
  unit: '',
  help: '1 if this page has the metrics of the target, 0 if the target is not ready or did not answer in time.',
};
const INFO: FamilyMetadata = {
  name: 'shm_target_info',
  type: 'info',
  unit: '',
  help: 'The last root of the target and its format; always 1.',
};

const OWN = [UP, INFO];

/** Demands the metrics of the selected targets, and joins them. */
export function hostPage(
  targets: readonly Target[],
  { apps, serverKeys, scope, form, timeoutSeconds = 0 }: HostPageRequest,
  { onLeftOut, scheduler }: HostPageOptions,
): Observable<HeldContent> {
  const identities = [...identitiesOf(targets)].filter(
    ([target]) =>
      (apps.length === 0 || apps.includes(target.app)) &&
      (serverKeys.length === 0 || target.serverKeys.some((key) => serverKeys.includes(key))),
  );
  const selected = identities.map(([target]) => target);
  const isWhole = apps.length === 0 && serverKeys.length === 0 && scope === undefined;
  const waitMs = timeoutSeconds > 0 ? Math.min(MAX_WAIT_MS, timeoutSeconds * 500) : MAX_WAIT_MS;
  const late$ = timer(waitMs, scheduler);
  return demandAll(selected, (target) => target.demand(scope, form), late$).pipe(
    concatMap(({ answers, release }) => {
      let isTaken = false;
      return inSlices(joining(answers.filter(isLabelled), OWN, form)).pipe(
        map((joined) => {
          isTaken = true;
          return { ...joined, answers, release };
        }),
        finalize(() => {
          if (!isTaken) release();
        }),
      );
    }),
    map(({ snapshot, leftOut, answers, release }) => {
      if (isWhole) onLeftOut(leftOut);
      const up = identities.map(([, identity], index) => {
        const answer = answers[index];
        const value = Number(answer !== undefined && isLabelled(answer));
        return sampleText({ ...UP, labels: identity, value });
      });
      const info = identities.map(([{ lastRoot, format, keyLabels }, identity]) => {
        const labels = { ...identity, root: lastRoot?.id ?? '', format: format.name, ...keyLabels };
        return sampleText({ ...INFO, labels, value: 1 });
      });
      const internal = [familyOf(UP, up), familyOf(INFO, info)];
      return { content: { snapshot, internal }, release };
    }),
  );
}

/** Runs steps, for `SLICE_MS` in each iteration of the event loop. Emits their result. */
const inSlices = <T>(steps: Iterator<void, T>): Observable<T> =>
  new Observable((subscriber) => {
    let next: NodeJS.Immediate | undefined;
    const run = (): void => {
      const endMs = monotonicMs() + SLICE_MS;
      try {
        let step = steps.next();
        while (step.done !== true && monotonicMs() < endMs) step = steps.next();
        if (step.done === true) {
          subscriber.next(step.value);
          subscriber.complete();
        } else next = setImmediate(run);
      } catch (error) {
        subscriber.error(error);
      }
    };
    run();
    return () => {
      clearImmediate(next);
    };
  });

const familyOf = (metadata: FamilyMetadata, lines: readonly string[]): FamilyLines => ({
  metadata,
  text: lines.join(''),
});
