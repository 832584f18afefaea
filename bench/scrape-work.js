// Does only the work of a scrape, on the workload of the benchmarks: copies values and words from a file, compares
// and renders them. It has no targets, no directory, no checks and no event streams.
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { Kernel, OPCODE } from '../dist/exposition/wasm/kernel.js';
import { CELL_BYTES } from '../dist/exposition/wasm/layout.js';
import { StoredText } from '../dist/exposition/wasm/memory.js';
import { TEXT } from '../dist/exposition/page/text-page.js';
import { ExpositionText } from '../dist/exposition/text/exposition-text.js';
import { labelsPart, labelsText } from '../dist/exposition/text/text-syntax.js';
import { FAMILIES, Values, entityLabels, kindOf, nameOf } from './workload.js';

/** The number of values that one read copies. */
const SPAN = 8192;

export class ScrapeWork {
  #series;
  #values;
  #kernel = new Kernel();
  #text = new ExpositionText(this.#kernel);
  #cells;
  #copied;
  #file;
  /** The content of the publisher's file: all values, then all words. */
  #image;
  #release = () => undefined;

  constructor(series) {
    this.#series = series;
    this.#values = new Values(series);
    this.#image = Buffer.alloc(series * 12);
    this.#cells = this.#kernel.arena.allocate(series * CELL_BYTES);
    this.#copied = this.#kernel.arena.allocate(SPAN * 16);
    this.#kernel.bytes.fill(0, this.#cells, this.#cells + series * CELL_BYTES);
    this.#addLines();
    const path = `/dev/shm/shm-work-${process.pid}`;
    this.#file = openSync(path, 'w+');
    unlinkSync(path);
    this.#values.all.forEach((value, index) => this.#set(index, value));
    this.#store();
  }

  /** Changes a share of the values, as a publisher does. This is not part of a scrape. */
  change(share) {
    this.#values.change(share, (index, value) => this.#set(index, value));
    this.#store();
  }

  /** Copies the file's values and words, and marks the cells that changed. */
  copy() {
    const [words, out] = [this.#copied + SPAN * 8, this.#copied + SPAN * 12];
    const valueWindow = this.#kernel.view(this.#copied, SPAN * 8);
    const wordWindow = this.#kernel.view(words, SPAN * 4);
    for (let at = 0; at < this.#series; at += SPAN) {
      const count = Math.min(SPAN, this.#series - at);
      const cell = this.#cells + at * CELL_BYTES;
      readSync(this.#file, valueWindow, 0, count * 8, at * 8);
      readSync(this.#file, wordWindow, 0, count * 4, this.#series * 8 + at * 4);
      this.#kernel.run.storeChanged(cell, this.#copied, words, count, out);
    }
  }

  /** The page of the values that were copied last. The caller releases it after sending. */
  page(encodings) {
    this.#release();
    const snapshot = this.#rendered(encodings);
    this.#release = snapshot.hold();
    return TEXT.page({ snapshot, internal: [] });
  }

  close() {
    closeSync(this.#file);
  }

  #rendered(encodings) {
    const steps = this.#text.rendering(encodings);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  #addLines() {
    const metadata = Array.from({ length: FAMILIES }, (_, family) => ({
      name: nameOf(family),
      type: kindOf(family) === 'counter' ? 'counter' : 'gauge',
      unit: '',
      help: 'A family of the workload.',
    }));
    for (let entity = 0; entity < this.#values.entities; entity++) {
      const labels = new StoredText(
        this.#kernel.texts,
        labelsPart(labelsText(entityLabels(entity))),
      );
      for (let family = 0; family < FAMILIES; family++) {
        const slot = entity * FAMILIES + family;
        const opcode = kindOf(family) === 'counter' ? OPCODE.u64 : OPCODE.f64;
        const cell = this.#cells + slot * CELL_BYTES;
        const line = { suffix: '', labels, constant: '', cell, opcode };
        this.#text.put(metadata[family], family, { nodeId: slot, seriesIndex: 0 }, line);
      }
    }
  }

  #set(index, value) {
    const family = Math.floor(index / this.#values.entities);
    // Like a publisher, store the variables of an object side by side.
    const at = ((index % this.#values.entities) * FAMILIES + family) * 8;
    if (kindOf(family) === 'counter') this.#image.writeBigUInt64LE(BigInt(value), at);
    else this.#image.writeDoubleLE(value, at);
  }

  #store() {
    writeSync(this.#file, this.#image, 0, this.#image.length, 0);
  }
}
