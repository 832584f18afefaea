// Looks names up so that those which hang do not hold up the others: few look-ups run at once in a process.
import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** What takes longer is answered with what was found before. */
const PATIENCE_MS = 50;

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
/** Finds all addresses of a name; calls back once, however late. */
export type Resolve = (name: string, found: Found) => void;

const resolveBySystem: Resolve = (name, found) => {
  systemLookup(name, { all: true }, found);
};

/** One for all components. A name waits in the system's queue once, however many ask for it. */
export class NameLookup {
  readonly #resolve: Resolve;
  readonly #known = new Map<string, LookupAddress[]>();
  /** Who waits, by name. */
  readonly #waiting = new Map<string, Found[]>();

  constructor(resolve: Resolve = resolveBySystem) {
    this.#resolve = resolve;
  }

  /** In the place of `dns.lookup`, for connections. */
  readonly lookup: LookupFunction = (name, { all = false }, callback) => {
    const known = this.#known.get(name);
    let isAnswered = false;
    const answer: Found = (error, addresses) => {
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

  #ask(name: string, found: Found): void {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      waiting.push(found);
      return;
    }
    this.#waiting.set(name, [found]);
    this.#resolve(name, (error, addresses) => {
      this.#tell(name, error, addresses);
    });
  }

  #tell(name: string, error: NodeJS.ErrnoException | null, addresses: LookupAddress[]): void {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    if (error === null) this.#known.set(name, addresses);
    // Nobody could be asked: that is no news of the name.
    const known = error?.code === 'EAI_AGAIN' ? this.#known.get(name) : undefined;
    for (const found of waiting)
      if (known === undefined) found(error, error === null ? addresses : []);
      else found(null, known);
  }
}
