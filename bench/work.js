// A server that does the work of a scrape and nothing else: it copies values and words from a file,
// compares, renders and sends. No targets, no directory, no checks, no streams of events: what is
// between it and the exporter is what these cost. Usage: fork it with the number of series.
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { CELL_BYTES, Kernel, OP } from '../dist/exposition/kernel/kernel.js';
import { SharedText } from '../dist/exposition/kernel/shared-text.js';
import { TEXT } from '../dist/exposition/page/text-format.js';
import { ExpositionText } from '../dist/exposition/text/exposition-text.js';
import { labelsPart, labelsText } from '../dist/exposition/text/labels.js';
import { deflateEnd } from '../dist/sinks/http/deflate.js';
import { FAMILIES, Values, entityLabels, kindOf, nameOf } from './workload.js';

/** Values that one read copies. */
const SPAN = 8192;
const GZIP = Buffer.from('1f8b08000000000004ff', 'hex');
const NOTHING = Buffer.alloc(0);

const series = Number(process.argv[2]);
const values = new Values(series);
const kernel = new Kernel();
const text = new ExpositionText(kernel);
const cells = kernel.arena.take(series * CELL_BYTES);
const copied = kernel.arena.take(SPAN * 16);
kernel.bytes.fill(0, cells, cells + series * CELL_BYTES);

const facts = Array.from({ length: FAMILIES }, (_, family) => ({
  name: nameOf(family),
  type: kindOf(family) === 'counter' ? 'counter' : 'gauge',
  unit: '',
  help: 'A family of the workload.',
}));
/** As a publisher keeps them: the variables of one object side by side. */
const slotOf = (index) =>
  (index % values.entities) * FAMILIES + Math.floor(index / values.entities);
for (let entity = 0; entity < values.entities; entity++) {
  const labels = new SharedText(kernel.texts, labelsPart(labelsText(entityLabels(entity))));
  for (let family = 0; family < FAMILIES; family++) {
    const slot = entity * FAMILIES + family;
    const op = kindOf(family) === 'counter' ? OP.u64 : OP.f64;
    const line = { suffix: '', labels, fixed: '', cell: cells + slot * CELL_BYTES, op };
    text.put(facts[family], family, { owner: slot, sub: 0 }, line);
  }
}

const path = `/dev/shm/shm-work-${process.pid}`;
const file = openSync(path, 'w+');
unlinkSync(path);
const image = Buffer.alloc(series * 12);
const integers = new BigUint64Array(image.buffer, image.byteOffset, series);
const floats = new Float64Array(image.buffer, image.byteOffset, series);
const set = (index, value) => {
  const slot = slotOf(index);
  if (kindOf(Math.floor(index / values.entities)) === 'counter') integers[slot] = BigInt(value);
  else floats[slot] = value;
};
const store = () => writeSync(file, image, 0, image.length, 0);
values.all.forEach((value, index) => set(index, value));
store();

function copy() {
  const [words, out] = [copied + SPAN * 8, copied + SPAN * 12];
  const valueWindow = kernel.window(copied, SPAN * 8);
  const wordWindow = kernel.window(words, SPAN * 4);
  for (let at = 0; at < series; at += SPAN) {
    const count = Math.min(SPAN, series - at);
    const cell = cells + at * CELL_BYTES;
    readSync(file, valueWindow, 0, count * 8, at * 8);
    readSync(file, wordWindow, 0, count * 4, series * 8 + at * 4);
    kernel.run.absorb(cell, copied, words, count, out);
  }
}

function rendered(forms) {
  const steps = text.rendering(forms);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

let release = () => undefined;
const server = createServer((request, response) => {
  copy();
  release();
  const isGzip = request.headers['accept-encoding'] === 'gzip';
  const snapshot = rendered({ text: !isGzip, deflated: isGzip });
  release = snapshot.hold();
  const page = TEXT.page({ snapshot, families: snapshot.families, internal: [] });
  const { deflated } = isGzip ? page : {};
  const end = deflated?.hold?.();
  const pieces = deflated ? [GZIP, ...deflated.pieces, deflateEnd(deflated, NOTHING)] : page.pieces;
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': bytes });
  for (const piece of pieces) response.write(piece);
  response.end();
  response.on('close', () => {
    end?.();
    page.release();
  });
});
process.on('message', ({ change }) => {
  values.change(change, set);
  store();
  process.send({ done: true });
});
process.on('disconnect', () => {
  closeSync(file);
  process.exit(0);
});
server.listen(0, '127.0.0.1', () => process.send({ done: true, port: server.address().port }));
