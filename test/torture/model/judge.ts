// Compares what demands are answered with what the model says.
import type { Exposition } from '#app/model.js';
import type { ServedTarget } from '#app/targets/served-target.js';
import { isWhole, shownOf } from './page-model.js';
import type { ModelTree, PageModel, Shown, Stamp } from './page-model.js';
import { shownIn } from './page-text.js';
import type { NotedRefresh, RefreshLog } from './refresh-log.js';

/** A demand that waits for its answer. */
export interface Asked {
  readonly target: ServedTarget;
  readonly tag: string;
  readonly at: Stamp;
  /** The largest spacing that the target had so far; one that comes later holds for the demand, too. */
  readonly spacingMs: () => number;
}

export class Judge {
  pages = 0;
  values = 0;
  readonly #model: PageModel;
  readonly #log: RefreshLog;
  readonly #wrong: (what: string) => void;
  /** Whether trees change while they are copied, so that a page may be of several moments. */
  readonly #isTorn: boolean;
  /** When each target was ready last. */
  readonly #ready = new Map<string, Stamp>();

  constructor(model: PageModel, log: RefreshLog, isTorn: boolean, wrong: (what: string) => void) {
    this.#model = model;
    this.#log = log;
    this.#isTorn = isTorn;
    this.#wrong = wrong;
  }

  /** The target is not ready any more for a reason that the model does not know, or new. */
  forget(tag: string): void {
    this.#ready.delete(tag);
  }

  answered(asked: Asked, exposition: Exposition): void {
    if (exposition.kind === 'ready') this.#judgePage(asked, exposition);
    else this.#judgeWaiting(asked, exposition.status.progress.reason);
  }

  /** Judges an answer to a demand that was made when all was quiet. */
  settled(asked: Asked, exposition: Exposition | undefined): void {
    const { tag, target } = asked;
    if (exposition === undefined) this.#wrong(`${tag}: a demand without an answer`);
    const trees = this.#trees(target);
    if (trees.length === 0 || !trees.every(isWhole) || exposition?.kind === 'ready') return;
    this.#wrong(
      `${tag}: not ready though all is there, it waits for ${exposition?.status.progress.reason}`,
    );
  }

  #trees({ serverKeys }: ServedTarget): ModelTree[] {
    return serverKeys.map((key) => this.#model.now(key)).filter((tree) => tree !== undefined);
  }

  #judgeWaiting({ tag, target }: Asked, reason: string): void {
    const ready = this.#ready.get(tag);
    if (ready === undefined) return;
    if (target.serverKeys.some((key) => this.#model.wasLost(key, ready))) this.forget(tag);
    else this.#wrong(`${tag}: ready no more without a reason, it waits for ${reason}`);
  }

  #judgePage(asked: Asked, exposition: Extract<Exposition, { readonly kind: 'ready' }>): void {
    const { tag, at, spacingMs } = asked;
    this.#ready.set(tag, this.#model.stamp());
    const reported = this.#log.reported(tag);
    const answer = reported.at(-1);
    if (answer === undefined || answer.sent.order < at.order) {
      this.#wrong(`${tag}: a demand is answered by a refresh from before it`);
      return;
    }
    const shown = this.#read(tag, exposition);
    if (shown === undefined) return;
    this.pages++;
    this.values += shown.size;
    const made = answer.mayRender ? answer : reported.findLast((each) => each.hasRendered);
    if (
      made?.reported === undefined ||
      (!answer.mayRender && made.reported.atMs < at.atMs - spacingMs())
    )
      this.#wrong(`${tag}: a page from before the spacing`);
    else this.#compare(tag, shown, made, made.reported);
  }

  #read(tag: string, page: Extract<Exposition, { readonly kind: 'ready' }>): Shown | undefined {
    try {
      return shownIn(page);
    } catch (error) {
      this.#wrong(`${tag}: ${String(error)}`);
      return undefined;
    }
  }

  /** The page must be of a moment of the refresh that made it or, if trees are torn, each of its series. */
  #compare(tag: string, page: Shown, { definition, sent }: NotedRefresh, reported: Stamp): void {
    const faults = definition.serverKeys.map((key) => {
      const trees = this.#model.during(key, sent, reported);
      const rooted = trees.filter((tree) => tree !== undefined);
      const moments = rooted.map((tree) => shownOf(tree, definition.seedPaths));
      if (!this.#isTorn) return wholeFaults(page, moments);
      // What goes with its root during a copy may be missing already.
      if (rooted.length > 0 && rooted.length < trees.length) moments.push(new Map());
      return tornFaults(page, moments, (name, value) =>
        FRAMED.test(name)
          ? this.#model.everHad(key, name, value)
          : this.#model.formerValue(key, name, sent) === value,
      );
    });
    if (faults.every((each) => each.length > 0))
      this.#wrong(
        `${tag} [${definition.seedPaths.join()}]: ${faults.map((each) => each.slice(0, 3).join(', ')).join(' / ')}`,
      );
  }
}

/** Series of texts and histograms. */
const FRAMED = /^demo_\w+_(t_info|h) /;

/** What differs from the last moment, unless it is one of them. */
function wholeFaults(page: Shown, moments: readonly Shown[]): string[] {
  const faults = moments.map((moment) => tornFaults(page, [moment]));
  if (faults.some(({ length }) => length === 0)) return [];
  return faults.at(-1) ?? ['a page without a root'];
}

/**
 * Series with a value that they did not have at any of these moments, and series that are missing
 * though they were always there. Of those that changed meanwhile, texts and histograms that cannot be
 * copied whole keep their last value, and others that were unset before and set again may show the
 * one from before: the word beside them is the same as ever.
 * @param wasFormer whether it is such a value
 */
function tornFaults(
  page: Shown,
  moments: readonly Shown[],
  wasFormer: (name: string, value: string) => boolean = () => false,
): string[] {
  const [first] = moments;
  if (first === undefined) return ['a page without a root'];
  const faults: string[] = [];
  for (const [name, value] of page) {
    const known = new Set(moments.map((moment) => moment.get(name)));
    if (known.has(value) || (known.size > 1 && wasFormer(name, value))) continue;
    const expected = [...known].map((each) => each ?? 'missing').join(' or ');
    faults.push(`${name} is ${value}, not ${expected}`);
  }
  for (const name of first.keys())
    if (!page.has(name) && moments.every((moment) => moment.has(name)))
      faults.push(`${name} is missing`);
  return faults;
}
