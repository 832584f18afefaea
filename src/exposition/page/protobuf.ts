// Protobuf pages: for each family a message `MetricFamily` of io.prometheus.client, after its length.
import { setImmediate } from 'node:timers/promises';
import { bytesOf, joinSmall } from '../../bytes.js';
import type {
  Body,
  FamilyLines,
  FamilyMetadata,
  Format,
  Page,
  Piece,
  Snapshot,
} from '../../model.js';
import { GzipText } from '../compress/gzip.js';
import { memoize } from '../memoize.js';
import { familyStart, isDistribution, metricWriter } from './metric-messages.js';
import { textLines } from './text-page.js';

/** Converting this much text takes about a millisecond. */
const BYTES_A_SLICE = 131_072;

/** The application metrics of a page. One object serves all pages of a snapshot. */
interface Converted {
  readonly buffers: readonly Uint8Array[];
  readonly bytes: number;
  readonly gzip: GzipText;
}

/** Pages of protobuf. They are converted from text, in slices between which the event loop does other work. */
export const PROTOBUF: Format = {
  contentType:
    'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
  usesDeflatedLines: false,
  page: async ({ snapshot, internal }) => {
    // Before the first await, so that the snapshot is held when this function returns.
    const converted = convert(snapshot);
    const own = Buffer.concat(internal.flatMap(internalFamily));
    return pageOf(await converted, own);
  },
};

function pageOf(application: Converted, internal: Uint8Array): Page {
  // The buffers are copies, so the page holds no snapshot.
  const release = (): void => undefined;
  return {
    contentType: PROTOBUF.contentType,
    buffers: [...application.buffers, ...(internal.length > 0 ? [internal] : [])],
    bytes: application.bytes + internal.length,
    release,
    gzip: (): Body | Promise<Body> => application.gzip.body([internal], release),
  };
}

const convert = memoize(async (snapshot: Snapshot): Promise<Converted> => {
  const release = snapshot.hold();
  try {
    let converted = 0;
    const steps = converting(textLines(snapshot));
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        const buffers = joinSmall(step.value);
        return { buffers, bytes: bytesOf(buffers), gzip: new GzipText({ buffers }) };
      }
      converted += step.value;
      if (converted < BYTES_A_SLICE) continue;
      converted = 0;
      await setImmediate();
    }
  } finally {
    release();
  }
});

/** Converts pieces; yields the number of bytes of each that had to be converted. */
function* converting(pieces: readonly Piece[]): Generator<number, readonly Uint8Array[]> {
  const buffers: Uint8Array[] = [];
  for (let start = 0, end = 0; start < pieces.length; start = end) {
    const family = pieces[start]?.family;
    while (pieces[end]?.family === family) end++;
    if (family === undefined) break;
    const ofFamily = pieces.slice(start, end);
    const metrics = isDistribution(family)
      ? yield* convertingTogether(family, ofFamily)
      : yield* convertingEach(family, ofFamily);
    buffers.push(familyStart(family, unitOf(family), bytesOf(metrics)), ...metrics);
  }
  return buffers;
}

/** The messages of each piece of text, by its buffer: text that has not changed has the same buffer. */
const metricsOf = new WeakMap<Uint8Array, Buffer>();

function* convertingEach(
  family: FamilyMetadata,
  pieces: readonly Piece[],
): Generator<number, readonly Buffer[]> {
  const metrics: Buffer[] = [];
  for (const { data, bytes } of pieces) {
    const known = metricsOf.get(data) ?? metricsIn(family, [data]);
    metrics.push(known);
    if (metricsOf.has(data)) continue;
    metricsOf.set(data, known);
    yield bytes;
  }
  return metrics;
}

/** The messages of a family of histograms or summaries, by its first piece. One may begin in a piece and end in the next. */
const familyMetrics = new WeakMap<
  Uint8Array,
  { readonly pieces: readonly Piece[]; readonly metrics: readonly Buffer[] }
>();

function* convertingTogether(
  family: FamilyMetadata,
  pieces: readonly Piece[],
): Generator<number, readonly Buffer[]> {
  const [first] = pieces;
  if (first === undefined) return [];
  const known = familyMetrics.get(first.data);
  if (
    known?.pieces.length === pieces.length &&
    pieces.every(({ data }, index) => known.pieces[index]?.data === data)
  )
    return known.metrics;
  const writer = metricWriter(family, bytesOf(pieces.map(({ data }) => data)));
  for (const { data, bytes } of pieces) {
    writer.add(data);
    yield bytes;
  }
  const metrics = [writer.end()];
  familyMetrics.set(first.data, { pieces, metrics });
  return metrics;
}

function metricsIn(family: FamilyMetadata, texts: readonly Uint8Array[]): Buffer {
  const writer = metricWriter(family, bytesOf(texts));
  for (const text of texts) writer.add(text);
  return writer.end();
}

function internalFamily({ metadata, text }: FamilyLines): readonly Buffer[] {
  const metrics = metricsIn(metadata, [Buffer.from(text)]);
  return [familyStart(metadata, unitOf(metadata), metrics.length), metrics];
}

/**
 * The unit that a page states. Prometheus refuses a page with a unit that is not the last word of the name, apart from
 * `_total` of a counter.
 */
function unitOf({ name, type, unit }: FamilyMetadata): string {
  const base = type === 'counter' ? name.replace(/_total$/, '') : name;
  return base.endsWith(`_${unit}`) ? unit : '';
}
