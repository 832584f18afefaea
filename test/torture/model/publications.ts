// The publication of each server key, and the SharedMemory through which targets open the segments.
import type { SegmentFile, SharedMemory } from '#app/native/os/shared-memory.js';
import { openReadable } from '#app/native/os/shared-memory.js';
import { segmentName } from '#app/native/segment/layout.js';
import { computeLayout } from '#app/native/publisher/segment-layout.js';
import { Publisher } from '#app/native/publisher/publisher.js';
import type { Random } from '#app/simulator/course.js';
import type { PageModel } from './page-model.js';
import { CAPACITY, WEIGHTED_CHANGES, Publication } from './publication.js';
import type { ChangeKind } from './publication.js';
import type { SeededClock } from './seeded-clock.js';

export const CONTEXT_ID = 'simulation';
export const POOL_NAME = 'pool';
/** The offset from which a segment has words, values and frames. */
const VALUES_AT = computeLayout(CAPACITY).words;
const MAX_FIRST = 40;

/** The publication of a server key. Its publisher may have ended. */
interface KeyedPublication {
  readonly publication: Publication;
  /** The name of the publication's segment file. */
  readonly file: string;
  readonly waits: Set<() => void>;
  isAlive: boolean;
}

interface OpenSegment extends SegmentFile {
  readonly isOpen: boolean;
}

export class Publications implements SharedMemory {
  /** Called before values are read, so that a test can change them at that moment. */
  beforeValues: () => void = () => undefined;
  /** The number of open files. */
  openFiles = 0;
  readonly #contextId: string;
  readonly #random: Random;
  readonly #clock: SeededClock;
  readonly #model: PageModel;
  readonly #named = new Map<string, KeyedPublication>();
  readonly #publishers: Publisher[] = [];
  #values = 0;

  /** @param contextId the context id of the files, unique to this run */
  constructor(contextId: string, random: Random, clock: SeededClock, model: PageModel) {
    this.#contextId = contextId;
    this.#random = random;
    this.#clock = clock;
    this.#model = model;
  }

  isLive(key: string): boolean {
    return this.#named.get(key)?.isAlive === true;
  }

  hasRoot(key: string): boolean {
    return this.isLive(key) && this.#named.get(key)?.publication.hasRoot === true;
  }

  open(name: string): OpenSegment | undefined {
    const key = [...this.#named.keys()].find(
      (each) => segmentName(CONTEXT_ID, POOL_NAME, each) === name,
    );
    const named = key === undefined ? undefined : this.#named.get(key);
    const file = named && openReadable(named.file);
    if (key === undefined || named === undefined || file === undefined) return undefined;
    return this.#segment(key, named, file);
  }

  /** Starts a publisher with a tree for the key. An earlier publisher of the key counts as killed. */
  publish(key: string): string {
    const former = this.#named.get(key);
    const wasAlive = former?.isAlive === true;
    if (former !== undefined) former.isAlive = false;
    const serverKey = `${key}${this.#publishers.length}`;
    const publisher = new Publisher({
      failIfBusy: true,
      ...{ contextId: this.#contextId, serverKey, capacity: CAPACITY, heartbeatMs: 0 },
      realtimeNs: () => 1_700_000_000_000_000_000n,
    });
    this.#publishers.push(publisher);
    const publication = new Publication(publisher, this.#random, () => ++this.#values);
    for (let left = this.#random.below(MAX_FIRST); left > 0; left--)
      publication.change(left % 3 === 0 ? 'add object' : 'add variable');
    if (this.#random.below(2) === 0) publication.complete();
    publisher.place();
    const file = segmentName(this.#contextId, POOL_NAME, serverKey);
    this.#named.set(key, { publication, file, waits: new Set(), isAlive: true });
    this.#model.note(key, publication.tree, former !== undefined);
    return wasAlive ? 'replaced' : 'new';
  }

  /** Ends the publisher without a notification. */
  kill(key: string): string | undefined {
    const named = this.#live(key);
    if (named === undefined) return undefined;
    named.isAlive = false;
    this.#model.note(key, undefined, true);
    return '';
  }

  close(key: string): string | undefined {
    const named = this.#live(key);
    if (named === undefined) return undefined;
    named.isAlive = false;
    this.#named.delete(key);
    named.publication.publisher.close();
    this.#model.note(key, undefined);
    this.#wake(named);
    return '';
  }

  /** Removes the root, or adds it again. */
  toggleRoot(key: string): 'goes' | 'comes' | undefined {
    const publication = this.#live(key)?.publication;
    if (publication === undefined) return undefined;
    const { hasRoot } = publication;
    if (hasRoot) publication.removeRoot();
    else publication.addRoot();
    this.#model.note(key, publication.tree);
    return hasRoot ? 'goes' : 'comes';
  }

  change(key: string, kind: ChangeKind): string | undefined {
    const publication = this.#live(key)?.publication;
    const done = publication?.change(kind);
    if (done !== undefined) this.#model.note(key, publication?.tree);
    return done;
  }

  /** Syncs all objects of the publisher's tree and sets all its variables. */
  complete(key: string): void {
    const publication = this.#live(key)?.publication;
    publication?.complete();
    if (publication !== undefined) this.#model.note(key, publication.tree);
  }

  notify(key: string): string | undefined {
    const named = this.#live(key);
    if (named === undefined) return undefined;
    named.publication.publisher.notify();
    this.#wake(named);
    return '';
  }

  randomChange(): ChangeKind {
    return WEIGHTED_CHANGES[this.#random.below(WEIGHTED_CHANGES.length)] ?? 'set';
  }

  /** Ends all publishers and removes their files. */
  end(): void {
    for (const publisher of this.#publishers) publisher.close();
  }

  #live(key: string): KeyedPublication | undefined {
    const named = this.#named.get(key);
    return named?.isAlive === true ? named : undefined;
  }

  #wake({ waits }: KeyedPublication): void {
    for (const moved of waits) this.#clock.soon(moved);
    waits.clear();
  }

  #segment(
    key: string,
    named: KeyedPublication,
    file: NonNullable<ReturnType<typeof openReadable>>,
  ): OpenSegment {
    this.openFiles++;
    return {
      get isOpen() {
        return file.isOpen;
      },
      identity: file.identity,
      ownership: file.ownership,
      read: (into, length, position) => {
        if (position >= VALUES_AT) this.beforeValues();
        return file.read(into, length, position);
      },
      size: () => file.size(),
      nameState: () => {
        const holder = file.isOpen ? this.#named.get(key) : undefined;
        if (holder === undefined) return 'removed';
        return holder === named ? 'kept' : 'replaced';
      },
      askLock: (answer) => {
        if (file.isOpen) answer(named.isAlive);
      },
      wait: (position, expected, moved) => {
        const word = Buffer.alloc(4);
        file.read(word, 4, position);
        if (word.readUInt32LE() !== expected) this.#clock.soon(moved);
        else named.waits.add(moved);
        return () => named.waits.delete(moved);
      },
      close: () => {
        if (file.isOpen) this.openFiles--;
        file.close();
      },
    };
  }
}
