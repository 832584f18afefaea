// Follows the roots of a segment, and skips all other records.
import type { Budget } from '../../budget.js';
import type { RootIdentity } from '../../model.js';
import { DirectoryReader } from './directory-reader.js';
import { RECORD, RECORD_KIND, RECORD_WORDS } from './layout.js';
import { RecordParser } from './record-parser.js';
import type { SegmentHeader } from './segment-header.js';
import type { SegmentFile } from '../os/shared-memory.js';

/** A root as its record states it. */
interface ScannedRoot {
  readonly name: string;
  readonly identity: RootIdentity;
}

/** The maximum number of roots to keep. A publisher usually has a few; `RootChooser` compares as many. */
const MAX_ROOTS = 16_384;
/** Word offsets of fields in a record. */
const KIND = RECORD.recordKind / 4;
const OWNER = RECORD.owner / 4;

export class RootScan {
  readonly #reader: DirectoryReader;
  readonly #parser: RecordParser;
  readonly #roots = new Map<number, ScannedRoot>();

  constructor(file: SegmentFile, header: SegmentHeader) {
    this.#reader = new DirectoryReader(file, header);
    this.#parser = new RecordParser(header, this.#reader);
  }

  /** The roots that the records read so far have added and not removed, up to the limit. */
  get roots(): Iterable<ScannedRoot> {
    return this.#roots.values();
  }

  /**
   * Reads new records within the budget. Returns whether there are more.
   * @throws Fault SEGMENT_CORRUPT, or SEGMENT_UNSTABLE if the directory changes faster than it can be copied
   */
  update(budget: Budget): boolean {
    for (let batch = this.#reader.next(); batch !== undefined; batch = this.#reader.next()) {
      const { words, firstIndex, isNewDirectory } = batch;
      if (isNewDirectory) this.#roots.clear();
      for (let at = 0; at < words.length; at += RECORD_WORDS)
        this.#take(words, at, firstIndex + at / RECORD_WORDS);
      budget.spend(1 + words.length / RECORD_WORDS);
      if (budget.isSpent) return true;
    }
    return false;
  }

  #take(words: Uint32Array, at: number, index: number): void {
    const kind = (words[at + KIND] ?? 0) & 0xff;
    const isBelow = words[at + OWNER] !== 0 || words[at + OWNER + 1] !== 0;
    if (kind === RECORD_KIND.variable || (kind === RECORD_KIND.object && isBelow)) return;
    const record = this.#parser.parse(words, at, index);
    if (record.kind !== 'object') this.#roots.delete(record.id);
    else if (this.#roots.size < MAX_ROOTS) this.#roots.set(record.id, record);
  }
}
