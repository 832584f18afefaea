// Where the text of a snapshot lies, as far as it differs from the one that was lent before.
import type { FamilyFacts, FamilyText, HeadedText, Snapshot } from '../../model.js';
import { NEW_FAMILY } from './messages.js';
import type { TextMap } from './messages.js';

/** @param before the families of the snapshot that was lent before */
export function textMapOf(snapshot: Snapshot, before: readonly FamilyText[]): TextMap {
  const { families, page, bytes, series, forms, code, hasForbidden } = snapshot;
  const places = placesIn(before, families);
  const placeOf = (index: number) => (places === undefined ? index : (places[index] ?? NEW_FAMILY));
  const changed = families.flatMap((family, index) =>
    family === before[placeOf(index)] ? [] : [{ family, index }],
  );
  // Text that is not ready is not made for this.
  const texts = forms.text ? changed : [];
  const spans = texts.flatMap(({ family, index }) =>
    headedOf(family).spans.flatMap((at, i) => (i % 2 === 0 ? [index, at] : [at])),
  );
  const parts = changed.flatMap(({ family: { deflated = [] }, index }) =>
    deflated.flatMap(({ data, ...part }) => [
      ...[index, data.byteOffset, data.length],
      ...[part.bits, part.crc, part.bytes],
    ]),
  );
  return {
    places,
    facts: families.filter((_, index) => placeOf(index) === NEW_FAMILY).map(({ facts }) => facts),
    spans: Uint32Array.from(spans),
    page: page && Uint32Array.from(page.flatMap(spanOf)),
    deflated: code && Uint32Array.from(parts),
    ...{ forms, code, hasForbidden, bytes, series },
  };
}

const spanOf = ({ byteOffset, length }: Uint8Array): [start: number, end: number] => [
  byteOffset,
  byteOffset + length,
];

/** Text is rendered below its header. */
export function headedOf({ headed, facts }: FamilyText): HeadedText {
  if (headed === undefined) throw new RangeError(`${facts.name} was not rendered`);
  return headed;
}

/** The place of each family among those before; undefined for the same ones. */
function placesIn(
  before: readonly FamilyText[],
  families: readonly FamilyText[],
): TextMap['places'] {
  const isSame =
    before.length === families.length &&
    families.every(({ facts }, index) => facts === before[index]?.facts);
  if (isSame) return undefined;
  const known = new Map<FamilyFacts, number>();
  before.forEach(({ facts }, index) => known.set(facts, index));
  return Int32Array.from(families, ({ facts }) => known.get(facts) ?? NEW_FAMILY);
}
