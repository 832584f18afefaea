// Checks passwords, as often as a token bucket allows.
import { createHmac, randomBytes } from 'node:crypto';
import { ReplaySubject, finalize, map, of, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Compare } from './threads/compare-in-thread.js';

/** `busy`: too many comparisons wait already. */
export type PasswordVerdict = 'admitted' | 'refused' | 'busy';

/** Right passwords that are kept: Prometheus sends the same one at each scrape. */
const MAX_RIGHT = 1024;
/** Wrong passwords that are kept. */
const MAX_WRONG = 128;
const MAX_WAITING = 16;
/** Of a header that is looked at. */
const MAX_CHARACTERS = 4096;
/** Salt and hash of random bytes, for names without a user. */
const RANDOM_HASH = 'PKC/x5dwmSNuIqITcsSa/uW3yT8mHV7ULICfBytPPlVi3k9Lk3R9G';
const LEAST_COST = 10;

export class Passwords {
  readonly #compare: Compare;
  /** Keys hold no password: what is known can be read from memory for long. */
  readonly #secret = randomBytes(32);
  /** Separate sets: clients that guess passwords do not push out those of honest ones. */
  readonly #right = new Set<string>();
  readonly #wrong = new Set<string>();
  readonly #running = new Map<string, Observable<boolean>>();

  constructor(compare: Compare) {
    this.#compare = compare;
  }

  /**
   * Emits once.
   * @param authorization the header of a request
   * @param users hashes by name
   */
  check(
    authorization: string | undefined,
    users: ReadonlyMap<string, string>,
  ): Observable<PasswordVerdict> {
    const given = credentials(authorization);
    if (given === undefined) return of('refused');
    const { name, password } = given;
    const hash = users.get(name);
    const compared = hash ?? hashOfNobody(users);
    const key = this.#key(password, compared);
    const isKnown = this.#right.has(key) || this.#wrong.has(key);
    const isSame$ = isKnown ? of(this.#right.has(key)) : this.#compared(key, password, compared);
    if (isSame$ === undefined) return of('busy');
    return isSame$.pipe(map((isSame) => (isSame && hash !== undefined ? 'admitted' : 'refused')));
  }

  /** Those who ask the same at once share one comparison; undefined when too many wait. */
  #compared(key: string, password: string, hash: string): Observable<boolean> | undefined {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    if (this.#running.size >= MAX_WAITING) return undefined;
    const isSame$ = this.#compare(password, hash).pipe(
      tap((isSame) => {
        this.#remember(key, isSame);
      }),
      finalize(() => this.#running.delete(key)),
      // A client that leaves does not end the comparison for the others.
      share({
        connector: () => new ReplaySubject<boolean>(1),
        resetOnComplete: false,
        resetOnRefCountZero: false,
      }),
    );
    this.#running.set(key, isSame$);
    return isSame$;
  }

  #remember(key: string, isSame: boolean): void {
    const known = isSame ? this.#right : this.#wrong;
    const [oldest] = known;
    if (known.size >= (isSame ? MAX_RIGHT : MAX_WRONG) && oldest !== undefined)
      known.delete(oldest);
    known.add(key);
  }

  /** Another hash, as after a change of the file, is another key. */
  #key(password: string, hash: string): string {
    const text = JSON.stringify([password, hash]);
    return createHmac('sha256', this.#secret).update(text).digest('base64');
  }
}

/**
 * A hash to compare for names without a user. It has the highest cost of all users, so that the time of
 * an answer does not tell which names exist.
 */
function hashOfNobody(users: ReadonlyMap<string, string>): string {
  const costs = [...users.values()].map((hash) => Number(/^\$2.?\$(\d\d)\$/.exec(hash)?.[1] ?? 0));
  const cost = costs.reduce((most, each) => Math.max(most, each), LEAST_COST);
  return `$2b$${cost}$${RANDOM_HASH}`;
}

/** RFC 7617; undefined for a header of another kind, or none. */
function credentials(
  authorization: string | undefined,
): { readonly name: string; readonly password: string } | undefined {
  if (authorization === undefined || authorization.length > MAX_CHARACTERS) return undefined;
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

// Lets requests in at a bounded rate: a bucket of tokens that fills with time.
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  #tokens: number;
  #filledMs: number;

  /**
   * @param intervalMs time in which one token is added; 0 lets everybody in
   * @param burst most tokens, which a new bucket has
   */
  constructor(intervalMs: number, burst: number, nowMs: () => number) {
    this.#intervalMs = intervalMs;
    this.#burst = burst;
    this.#nowMs = nowMs;
    this.#tokens = burst;
    this.#filledMs = nowMs();
  }

  /** Takes a token, if there is one. */
  take(): boolean {
    if (this.#intervalMs === 0) return true;
    const nowMs = this.#nowMs();
    const added = (nowMs - this.#filledMs) / this.#intervalMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + added);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
