// Basic authentication: checks passwords, and limits the rate of requests.
import { createHmac, randomBytes } from 'node:crypto';
import { ReplaySubject, finalize, map, of, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Compare } from './threads/compare-in-thread.js';

/** The result of a check. `busy` means that too many comparisons are pending. */
export type PasswordVerdict = 'admitted' | 'refused' | 'busy';

/** The size of the cache of correct passwords. Prometheus sends the same password with each scrape. */
const MAX_RIGHT = 1024;
/** The size of the cache of wrong passwords. */
const MAX_WRONG = 128;
const MAX_PENDING = 16;
/** The maximum number of characters of an Authorization header. The check refuses a longer header. */
const MAX_CHARACTERS = 4096;
/** A random salt and hash, for unknown user names. */
const RANDOM_HASH = 'PKC/x5dwmSNuIqITcsSa/uW3yT8mHV7ULICfBytPPlVi3k9Lk3R9G';
const LEAST_COST = 10;

/** Compares passwords with their hashes and caches the results. */
export class Passwords {
  readonly #compare: Compare;
  /**
   * Key of the HMACs of passwords. The caches hold the HMACs, not the passwords, so that a dump of the memory shows
   * no passwords.
   */
  readonly #secret = randomBytes(32);
  /** Separate caches: wrong passwords of an attacker do not evict correct ones. */
  readonly #right = new Set<string>();
  readonly #wrong = new Set<string>();
  readonly #running = new Map<string, Observable<boolean>>();

  constructor(compare: Compare) {
    this.#compare = compare;
  }

  /**
   * Emits the verdict once.
   * @param authorization the Authorization header of a request
   * @param users the hash of each user's password, by user name
   */
  check(
    authorization: string | undefined,
    users: ReadonlyMap<string, string>,
  ): Observable<PasswordVerdict> {
    const given = credentials(authorization);
    if (given === undefined) return of('refused');
    const { name, password } = given;
    const hash = users.get(name);
    const compared = hash ?? unknownUserHash(users);
    const key = this.#key(password, compared);
    const isKnown = this.#right.has(key) || this.#wrong.has(key);
    const isSame$ = isKnown ? of(this.#right.has(key)) : this.#compared(key, password, compared);
    if (isSame$ === undefined) return of('busy');
    return isSame$.pipe(map((isSame) => (isSame && hash !== undefined ? 'admitted' : 'refused')));
  }

  /** Compares a password. Calls with the same key share one comparison. Returns undefined if too many are pending. */
  #compared(key: string, password: string, hash: string): Observable<boolean> | undefined {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    if (this.#running.size >= MAX_PENDING) return undefined;
    const isSame$ = this.#compare(password, hash).pipe(
      tap((isSame) => {
        this.#remember(key, isSame);
      }),
      finalize(() => this.#running.delete(key)),
      // The comparison continues for other clients when one disconnects.
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

  #key(password: string, hash: string): string {
    const text = JSON.stringify([password, hash]);
    return createHmac('sha256', this.#secret).update(text).digest('base64');
  }
}

/**
 * The hash to compare for unknown user names. A comparison with it takes as long as with the slowest hash of a user,
 * so that response times do not reveal which names exist.
 */
function unknownUserHash(users: ReadonlyMap<string, string>): string {
  const costs = [...users.values()].map((hash) => Number(/^\$2.?\$(\d\d)\$/.exec(hash)?.[1] ?? 0));
  const cost = costs.reduce((most, each) => Math.max(most, each), LEAST_COST);
  return `$2b$${cost}$${RANDOM_HASH}`;
}

/** Parses the header of basic authentication (RFC 7617); undefined if it is missing, too long or invalid. */
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

/**
 * A token bucket that limits the rate of requests. Returns a function that takes a token, and returns false if the
 * bucket is empty.
 * @param intervalMs the time in which one token is added; 0 for no limit
 * @param burst the size of the bucket, which is full at first
 */
export function tokenBucket(intervalMs: number, burst: number, nowMs: () => number): () => boolean {
  let tokens = burst;
  let filledMs = nowMs();
  return () => {
    if (intervalMs === 0) return true;
    const now = nowMs();
    tokens = Math.min(burst, tokens + (now - filledMs) / intervalMs);
    filledMs = now;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}
