// Where the text of a snapshot lies, as far as it differs from the one that was lent before.
import type { FamilyFacts, FamilyText, Snapshot } from '../../model.js';
import { NEW_FAMILY } from './messages.js';
import type { TextMap } from './messages.js';

/** @param before the families of the snapshot that was lent before */
export function textMapOf(snapshot: Snapshot, before: readonly FamilyText[]): TextMap {
  const { families, bytes, series, forms, code } = snapshot;
  const places = placesIn(before, families);
  const isNew = (_: FamilyText, index: number): boolean => places[index] === NEW_FAMILY;
  const isSameList =
    before.length === families.length && places.every((place, index) => place === index);
  const changed = families.flatMap((family, index) =>
    family === before[places[index] ?? NEW_FAMILY] ? [] : [{ family, index }],
  );
  // Text that is not ready is not made for this.
  const texts = forms.text ? changed : [];
  const pieces = texts.flatMap(({ family, index }) =>
    family.pieces.flatMap(({ byteOffset, length }) => [index, byteOffset, length]),
  );
  const parts = changed.flatMap(({ family: { deflated = [] }, index }) =>
    deflated.flatMap(({ data, ...part }) => [
      ...[index, data.byteOffset, data.length],
      ...[part.bits, part.crc, part.bytes],
    ]),
  );
  return {
    places: isSameList ? undefined : places,
    facts: families.filter(isNew).map(({ facts }) => facts),
    pieces: Uint32Array.from(pieces),
    deflated: code && Uint32Array.from(parts),
    ...{ forms, code, bytes, series },
  };
}

/** The place of each family among those before. */
function placesIn(
  before: readonly FamilyText[],
  families: readonly FamilyText[],
): Int32Array<ArrayBuffer> {
  const places = new Int32Array(families.length).fill(NEW_FAMILY);
  const known = new Map<FamilyFacts, number>();
  const isAtItsPlace = ({ facts }: FamilyText, index: number): boolean =>
    facts === before[index]?.facts;
  const isSame = families.every(isAtItsPlace);
  if (!isSame) before.forEach(({ facts }, index) => known.set(facts, index));
  families.forEach(({ facts }, index) => {
    places[index] = isSame ? index : (known.get(facts) ?? NEW_FAMILY);
  });
  return places;
}
