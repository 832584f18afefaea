// Snapshots across threads: what is sent is what differs, and what arrives is what was lent.
import { expect } from 'chai';
import fc from 'fast-check';
import { HeadedFamily } from '#app/exposition/text/family-text.js';
import { headerOf } from '#app/exposition/text/header-text.js';
import type { FamilyFacts, FamilyText, Snapshot } from '#app/model.js';
import { Borrower } from '#app/targets/threads/borrower.js';
import { SnapshotLender } from '#app/targets/threads/snapshot-lender.js';
import { snapshotOf } from '../../support/snapshot-of.js';

const TARGET = 1;
const FAMILIES = 30;
const BYTES_A_TEXT = 64;

/** A thread's memory with one text for each family and version, and both sides of what is lent. */
class Loan {
  readonly memory = new SharedArrayBuffer(2 ** 16);
  readonly lender = new SnapshotLender();
  readonly borrower = new Borrower({ buffer: this.memory }, (id, times) => {
    this.lender.giveBack(id, times);
  });
  readonly facts: readonly FamilyFacts[] = Array.from({ length: FAMILIES }, (_, index) => {
    return { name: `f${index}`, type: 'gauge', unit: '', help: '' };
  });
  readonly #texts = new Map<number, FamilyText>();
  held = 0;

  snapshot(chosen: readonly (readonly [index: number, version: number])[]): Snapshot {
    const families = chosen.map(([index, version]) => this.#text(index, version));
    return snapshotOf(families, {
      hold: () => {
        this.held++;
        return () => {
          this.held--;
        };
      },
    });
  }

  /** Lends it, and returns what was sent and what arrived. */
  lend(snapshot: Snapshot) {
    const sent = structuredClone(this.lender.lend(TARGET, snapshot));
    const arrived: { snapshot?: Snapshot | undefined } = {};
    this.borrower.borrow(sent, (borrowed) => {
      arrived.snapshot = borrowed;
    });
    const { snapshot: borrowed } = arrived;
    return { sent: sent.text, borrowed, arrived: borrowed?.families ?? [] };
  }

  #text(index: number, version: number): FamilyText {
    const key = version * FAMILIES + index;
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const at = key * BYTES_A_TEXT;
    const bytes = Buffer.from(this.memory, at, BYTES_A_TEXT);
    const facts = this.facts[index] ?? { name: '', type: 'gauge', unit: '', help: '' };
    const header = headerOf(facts);
    const end = at + bytes.write(`${header.text}f${index} ${version}\n`);
    const text = new HeadedFamily(facts, { header, memory: this.memory, spans: [at, end] });
    this.#texts.set(key, text);
    return text;
  }
}

const shown = (families: readonly FamilyText[]) =>
  families.map(({ facts, pieces }) => [facts.name, Buffer.concat(pieces).toString()]);

describe('a snapshot that a thread lends', () => {
  it('arrives as it is, whichever families came, went or changed since the last one', () => {
    const list = fc.uniqueArray(
      fc.tuple(fc.nat({ max: FAMILIES - 1 }), fc.integer({ min: 1, max: 4 })),
      { selector: ([index]) => index },
    );
    fc.assert(
      fc.property(fc.array(list, { maxLength: 20 }), (lists) => {
        const loan = new Loan();
        for (const chosen of lists) {
          const snapshot = loan.snapshot(chosen);
          const { arrived } = loan.lend(snapshot);
          expect(shown(arrived)).to.deep.equal(shown(snapshot.families));
          expect(arrived.map(({ headed }) => headed)).to.deep.equal(
            snapshot.families.map(({ headed }) => headed),
          );
        }
        expect(loan.held, 'all of them are given back').to.equal(0);
      }),
    );
  });

  it('is sent without what is the same as in the last one', () => {
    const loan = new Loan();
    const all = Array.from({ length: FAMILIES }, (_, index) => [index, 1] as const);
    const first = loan.lend(loan.snapshot(all));
    expect(first.sent).to.deep.include({ facts: loan.facts });
    const changed = all.map(([index]) => [index, index === 7 ? 2 : 1] as const);
    const second = loan.lend(loan.snapshot(changed));
    expect(second.sent).to.deep.include({ places: undefined, facts: [] });
    expect(second.sent?.spans).to.have.lengthOf(3);
    const isSame = second.arrived.map((family, index) => family === first.arrived[index]);
    expect(isSame.indexOf(false)).to.equal(7);
    expect(isSame.lastIndexOf(false)).to.equal(7);
  });

  it('arrives with its page, which lies where it lay', () => {
    const loan = new Loan();
    const families = loan.snapshot([[3, 1]]).families;
    for (const page of [[16, 40, 56], [], undefined]) {
      const pieces = page?.map((at) => Buffer.from(loan.memory, at, 24));
      const { borrowed } = loan.lend(snapshotOf(families, { page: pieces }));
      const spans = borrowed?.page?.map(({ byteOffset, length }) => [byteOffset, length]);
      expect(spans).to.deep.equal(page?.map((at) => [at, 24]));
      expect(borrowed?.page?.every(({ buffer }) => buffer === loan.memory)).not.to.equal(false);
      expect(borrowed?.facts).to.deep.equal(families.map(({ facts }) => facts));
    }
  });

  it('arrives with the note that OpenMetrics forbids one of its values', () => {
    const loan = new Loan();
    const families = loan.snapshot([[3, 1]]).families;
    for (const hasForbidden of [true, false])
      expect(loan.lend(snapshotOf(families, { hasForbidden })).borrowed?.hasForbidden).to.equal(
        hasForbidden,
      );
  });

  it('is sent with the facts of new families alone', () => {
    const loan = new Loan();
    const some = [0, 1, 3, 4].map((index) => [index, 1] as const);
    loan.lend(loan.snapshot(some));
    const { sent, arrived } = loan.lend(loan.snapshot([...some.slice(1), [9, 1]]));
    expect(sent?.facts.map(({ name }) => name)).to.deep.equal(['f9']);
    expect([...(sent?.places ?? [])]).to.deep.equal([1, 2, 3, -1]);
    expect(arrived.map(({ facts }) => facts.name)).to.deep.equal(['f1', 'f3', 'f4', 'f9']);
  });
});
