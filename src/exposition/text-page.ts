// A snapshot as a page of Prometheus text 0.0.4.
import type { FamilyFacts, Page, ReadyExposition, Snapshot } from '../model.js';
import { internalText } from './internal-metrics.js';
import { TEXT_CONTENT_TYPE, headerText } from './text-format.js';

/** Pieces below this size are packed together: small writes cost more than copying them. */
const SMALL = 16_384;

const headers = new WeakMap<FamilyFacts, Buffer>();
function headerOf(facts: FamilyFacts): Buffer {
  let header = headers.get(facts);
  if (header === undefined) {
    header = Buffer.from(headerText(facts));
    headers.set(facts, header);
  }
  return header;
}

/** The packed application text of snapshots: made once, sent with fresh internal metrics. */
const packed = new WeakMap<Snapshot, readonly Uint8Array[]>();

export function textPage({ snapshot, internal, status }: ReadyExposition): Page {
  let pieces = packed.get(snapshot);
  if (pieces === undefined) {
    pieces = pack(
      snapshot.families.flatMap(({ facts, pieces: text }) => [headerOf(facts), ...text]),
    );
    packed.set(snapshot, pieces);
  }
  const own = Buffer.from(internalText(internal, status));
  const all = [...pieces, own];
  return {
    contentType: TEXT_CONTENT_TYPE,
    pieces: all,
    bytes: all.reduce((sum, piece) => sum + piece.length, 0),
    release: snapshot.hold(),
  };
}

/** Copies runs of small pieces into one each; large ones stay as they are. */
function pack(pieces: readonly Uint8Array[]): Uint8Array[] {
  const result: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  const close = () => {
    if (run.length > 0) result.push(run.length === 1 ? (run[0] ?? EMPTY) : Buffer.concat(run));
    run = [];
  };
  for (const piece of pieces) {
    if (piece.length >= SMALL) close();
    if (piece.length >= SMALL) result.push(piece);
    else run.push(piece);
  }
  close();
  return result;
}

const EMPTY = new Uint8Array();
