// Makes snapshots of what the thread of a partition sends: views of the text in its memory.
import { Fault } from '../../errors.js';
import { DeflateCode } from '../../exposition/compress/deflate-code.js';
import type { DeflatedPart } from '../../exposition/compress/deflate-stream.js';
import { madeOnce } from '../../exposition/made-once.js';
import { DeflatedFamily, HeadedFamily, familyText } from '../../exposition/text/family-text.js';
import { headerOf } from '../../exposition/text/labels.js';
import type { FamilyFacts, FamilyText, Forms, Header, Snapshot } from '../../model.js';
import { NEW_FAMILY } from './messages.js';
import type { SentSnapshot, TextMap } from './messages.js';

/** The memory of a thread, as far as it was shown: it only grows, whichever target tells of it. */
export interface ThreadMemory {
  buffer: SharedArrayBuffer;
}

interface Text {
  readonly spans: number[];
  readonly parts: DeflatedPart[];
}

const NONE = new Uint32Array(0);

/** The snapshots of one target. */
export class SnapshotReceiver {
  readonly #memory: Readonly<ThreadMemory>;
  readonly #headers = new WeakMap<FamilyFacts, Header>();
  #last: ReceivedSnapshot | undefined;
  #code: DeflateCode | undefined;

  constructor(memory: Readonly<ThreadMemory>) {
    this.#memory = memory;
  }

  /** Hands a snapshot to `use`; after that the thread may reuse its memory, unless it is held. */
  receive(sent: SentSnapshot | undefined, use: (snapshot: Snapshot | undefined) => void): void {
    if (sent?.text !== undefined) this.#last = this.#read(sent.holders, sent.text);
    try {
      use(sent && this.#last);
    } finally {
      if (sent !== undefined) release(sent);
    }
  }

  #read(
    holders: SentSnapshot['holders'],
    { places, facts: added, spans, page, deflated, code, ...sizes }: TextMap,
  ): ReceivedSnapshot {
    // The same code while its lengths are the same, so that what is made of it is found again.
    if (code !== undefined && String(code) !== String(this.#code?.lengths))
      this.#code = new DeflateCode(code);
    const own = code && this.#code;
    const families = familiesAt(places, added, this.#last?.families ?? []);
    const { buffer: memory } = this.#memory;
    for (const [index, text] of this.#textsIn(spans, deflated)) {
      const family = families[index]?.facts;
      if (family === undefined) continue;
      families[index] =
        own !== undefined && !sizes.forms.text
          ? new DeflatedFamily(family, { parts: text.parts, code: own })
          : new HeadedFamily(
              family,
              { header: madeOnce(this.#headers, family, headerOf), memory, spans: text.spans },
              own && { parts: text.parts, code: own },
            );
    }
    const last = places === undefined ? this.#last?.facts : undefined;
    const facts = last ?? families.map((family) => family.facts);
    const pieces = page && [...this.#piecesAt(page)];
    const shown = { facts, families, page: pieces, ...sizes, isDeflated: own !== undefined };
    return new ReceivedSnapshot(shown, holders);
  }

  *#piecesAt(spans: Uint32Array): Generator<Uint8Array> {
    const { buffer } = this.#memory;
    for (let i = 0; i < spans.length; i += 2) {
      const [start = 0, end = 0] = spans.subarray(i, i + 2);
      yield Buffer.from(buffer, start, end - start);
    }
  }

  /** The new text of families, by their indexes. */
  #textsIn(spans: Uint32Array, deflated: Uint32Array = NONE): ReadonlyMap<number, Text> {
    const { buffer } = this.#memory;
    const texts = new Map<number, Text>();
    const textOf = (family: number): Text => {
      const text = texts.get(family) ?? { spans: [], parts: [] };
      texts.set(family, text);
      return text;
    };
    for (let i = 0; i < spans.length; i += 3) {
      const [family = 0, start = 0, end = 0] = spans.subarray(i, i + 3);
      textOf(family).spans.push(start, end);
    }
    for (let i = 0; i < deflated.length; i += 6) {
      const [family = 0, at, length, bits = 0, crc = 0, bytes = 0] = deflated.subarray(i, i + 6);
      textOf(family).parts.push({ data: Buffer.from(buffer, at, length), bits, crc, bytes });
    }
    return texts;
  }
}

/** The families of a snapshot with the text that they had before; new ones have none yet. */
function familiesAt(
  places: TextMap['places'],
  facts: readonly FamilyFacts[],
  before: readonly FamilyText[],
): FamilyText[] {
  if (places === undefined) return [...before];
  const added = facts.map((each) => familyText(each, [])).values();
  const families: FamilyText[] = [];
  for (const place of places) {
    const family = place === NEW_FAMILY ? added.next().value : before[place];
    if (family !== undefined) families.push(family);
  }
  return families;
}

class ReceivedSnapshot implements Snapshot {
  readonly facts: readonly FamilyFacts[];
  readonly families: readonly FamilyText[];
  readonly page: readonly Uint8Array[] | undefined;
  readonly bytes: number;
  readonly series: number;
  readonly forms: Forms;
  readonly isDeflated: boolean;
  readonly hasForbidden: boolean | undefined;
  readonly #holders: SentSnapshot['holders'];

  constructor(
    {
      facts,
      families,
      page,
      bytes,
      series,
      forms,
      isDeflated,
      hasForbidden,
    }: Pick<
      ReceivedSnapshot,
      'facts' | 'families' | 'page' | 'bytes' | 'series' | 'forms' | 'isDeflated' | 'hasForbidden'
    >,
    holders: SentSnapshot['holders'],
  ) {
    this.facts = facts;
    this.families = families;
    this.page = page;
    this.bytes = bytes;
    this.series = series;
    this.forms = forms;
    this.isDeflated = isDeflated;
    this.hasForbidden = hasForbidden;
    this.#holders = holders;
  }

  /** @throws Fault NATIVE_FAILED when nothing holds it any more */
  hold(): () => void {
    const holders = this.#holders;
    if (Atomics.load(holders, 0) === 0)
      throw new Fault('NATIVE_FAILED', 'The text is gone: hold it while it is received');
    Atomics.add(holders, 0, 1);
    let isHeld = true;
    return () => {
      if (isHeld) release({ holders });
      isHeld = false;
    };
  }
}

/** Ends the part of a snapshot's holder. */
export const release = ({ holders }: Pick<SentSnapshot, 'holders'>): number =>
  Atomics.sub(holders, 0, 1);
