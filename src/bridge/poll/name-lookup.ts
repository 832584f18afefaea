// Looks up host names. Node.js runs only a few look-ups at a time. So a name gets only one look-up at a time, even if
// it is slow.
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** After this time, callers get the previous addresses of the name, if there are some. The look-up continues. */
const PATIENCE_MS = 50;

type LookupResult = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
/** Finds all addresses of a name; calls back once, possibly much later. */
export type Resolve = (name: string, found: LookupResult) => void;

const resolveBySystem: Resolve = (name, found) => {
  systemLookup(name, { all: true }, found);
};

/** Looks up host names for all components. Concurrent callers with one name share one look-up by the system. */
export class NameLookup {
  readonly #resolve: Resolve;
  readonly #known = new Map<string, LookupAddress[]>();
  /** The waiting callbacks by name. */
  readonly #waiting = new Map<string, LookupResult[]>();

  constructor(resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
  }

  /** Replaces `dns.lookup` for connections. */
  readonly lookup: LookupFunction = (name, { all = false }, callback) => {
    const known = this.#known.get(name);
    let isAnswered = false;
    const answer: LookupResult = (error, addresses) => {
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(patience);
      const [first] = addresses;
      if (all || first === undefined) callback(error, addresses);
      else callback(error, first.address, first.family);
    };
    const patience = setTimeout(() => {
      if (known !== undefined) answer(null, known);
    }, PATIENCE_MS);
    this.#ask(name, answer);
  };

  #ask(name: string, found: LookupResult): void {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      waiting.push(found);
      return;
    }
    this.#waiting.set(name, [found]);
    this.#resolve(name, (error, addresses) => {
      this.#report(name, error, addresses);
    });
  }

  #report(name: string, error: NodeJS.ErrnoException | null, addresses: LookupAddress[]): void {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    if (error === null) this.#known.set(name, addresses);
    // EAI_AGAIN means that no name server answered; then the previous addresses may still be valid.
    else if (error.code !== 'EAI_AGAIN') this.#known.delete(name);
    const known = error === null ? undefined : this.#known.get(name);
    for (const found of waiting)
      if (known === undefined) found(error, error === null ? addresses : []);
      else found(null, known);
  }
}
