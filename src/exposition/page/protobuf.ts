// Protobuf pages: for each family a message `MetricFamily` of io.prometheus.client, after its length.
import { setImmediate } from 'node:timers/promises';
import { bytesOf, joinSmall } from '../../bytes.js';
import type { FamilyLines, FamilyMetadata, Format, Piece, Snapshot } from '../../model.js';
import { GzipText, isDeflated, joined, storedBlockOf } from '../compress/gzip.js';
import type { DeflateStream } from '../compress/gzip.js';
import { memoize } from '../memoize.js';
import {
  familyFields,
  isDistribution,
  lengthOf,
  metricWriter,
} from '../protobuf/metric-writers.js';
import type { MetricWriter } from '../protobuf/metric-writers.js';
import { familiesOf, pageOf, textLines } from './text-page.js';

/** The application metrics of a page. One object serves all pages of a snapshot. */
class ApplicationMessages {
  readonly buffers: readonly Uint8Array[];
  readonly bytes: number;
  readonly gzip = new GzipText(this);
  readonly #deflated: readonly Piece[] | undefined;
  #stream: DeflateStream | undefined;

  /**
   * @param pieces in the form `protobuf`
   * @param deflated the same pieces in the form `deflated-protobuf`, if the kernel wrote them
   */
  constructor(pieces: readonly Piece[], deflated?: readonly Piece[]) {
    this.buffers = joinSmall(withFields(pieces));
    this.bytes = bytesOf(this.buffers);
    this.#deflated = deflated;
  }

  get deflated(): DeflateStream | undefined {
    if (this.#deflated?.every(isDeflated) !== true) return undefined;
    return (this.#stream ??= joined(
      familiesOf(this.#deflated).flatMap(({ family, pieces }) => {
        const bytes = pieces.reduce((sum, each) => sum + each.bytes, 0);
        return [storedBlockOf(headOf(family, bytes)), ...pieces];
      }),
    ));
  }
}

/** Pages of protobuf. */
export const PROTOBUF: Format = {
  contentType:
    'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
  form: (usesGzip) => (usesGzip ? 'deflated-protobuf' : 'protobuf'),
  page: ({ snapshot, internal }) => {
    const release = snapshot.hold();
    const own = joinSmall(internal.flatMap(internalFamily));
    const rendered = renderedMessages(snapshot);
    return rendered === undefined
      ? convertedMessages(snapshot)
          .then((application) => pageOf(PROTOBUF.contentType, application, own, () => undefined))
          .finally(release)
      : pageOf(PROTOBUF.contentType, rendered, own, release);
  },
};

/** The messages that the render wrote; undefined if it did not. */
const renderedMessages = memoize((snapshot: Snapshot) => {
  const pieces = snapshot.lines('protobuf');
  return pieces && new ApplicationMessages(pieces, snapshot.lines('deflated-protobuf'));
});

/** Converting this much text takes about a millisecond. */
const BYTES_A_SLICE = 131_072;

interface OpenFamily {
  readonly family: FamilyMetadata;
  readonly writer: MetricWriter;
}

/**
 * Converts the text of a snapshot, in slices between which the event loop does other work. Needed only for a snapshot
 * that was rendered before a client asked for protobuf. These messages have no start times.
 */
const convertedMessages = memoize(async (snapshot: Snapshot): Promise<ApplicationMessages> => {
  const pieces: Piece[] = [];
  let bytes = 0;
  let open: OpenFamily | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const { family, writer } = open;
    pieces.push({ family, lines: 0, data: writer.end(), bytes: 0, crc: undefined });
    open = undefined;
  };
  for (const { family, data } of textLines(snapshot)) {
    if (open?.family.name !== family.name || !isDistribution(family)) close();
    open ??= { family, writer: metricWriter(family, data.length) };
    open.writer.add(data);
    bytes += data.length;
    if (bytes < BYTES_A_SLICE) continue;
    bytes = 0;
    await setImmediate();
  }
  close();
  return new ApplicationMessages(pieces);
});

/** Puts the other fields of each family before its metrics. */
const withFields = (pieces: readonly Piece[]): readonly Uint8Array[] =>
  familiesOf(pieces).flatMap(({ family, pieces: own }) =>
    messageOf(
      family,
      own.map(({ data }) => data),
    ),
  );

function internalFamily({ metadata, text }: FamilyLines): readonly Uint8Array[] {
  const writer = metricWriter(metadata, text.length);
  writer.add(Buffer.from(text));
  return messageOf(metadata, [writer.end()]);
}

function messageOf(family: FamilyMetadata, metrics: readonly Uint8Array[]): readonly Uint8Array[] {
  return [headOf(family, bytesOf(metrics)), ...metrics];
}

/** The bytes of a family before its metrics, which take `bytes` bytes. */
function headOf(family: FamilyMetadata, bytes: number): Buffer {
  const fields = fieldsOf(family);
  return Buffer.concat([lengthOf(fields.length + bytes), fields]);
}

const fieldsOf = memoize((family: FamilyMetadata) => familyFields(family, unitOf(family)));

/**
 * The unit that a page states. Prometheus refuses a page with a unit that is not the last word of the name, apart from
 * `_total` of a counter.
 */
function unitOf({ name, type, unit }: FamilyMetadata): string {
  const base = type === 'counter' ? name.replace(/_total$/, '') : name;
  return base.endsWith(`_${unit}`) ? unit : '';
}
