// Bodies that no real component sends: too big, too deep, or mislabelled.

export const LOGIN_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n' +
  '<body><form action="/login" method="post"><input name="user"></form></body></html>\n';

const HUGE_BYTES = 100 * 2 ** 20;
const LEVELS = 10_000;
const OBJECTS = 200_000;
const OBJECTS_A_PIECE = 1000;

const head = (id: string): string => `{"Instance":${JSON.stringify(id)},"Class":"Filler",`;

/** 100 MB of valid JSON: one object, with the same variable many times. */
export function* hugeBody(): Generator<Buffer> {
  yield Buffer.from(`[${head('huge.1.adh')}"Children":[],"Variables":[`);
  const piece = Buffer.from('{"Name":"filler","Type":"Numeric","Value":1},'.repeat(1000));
  for (let bytes = 0; bytes < HUGE_BYTES; bytes += piece.length) yield piece;
  yield Buffer.from('{"Name":"last","Type":"Numeric","Value":1}]}]');
}

/** One root with 200,000 children. */
export function* manyObjects(): Generator<string> {
  yield `[${head('many.1.adh')}"Variables":[],"Children":[`;
  for (let first = 0; first < OBJECTS - 1; first += OBJECTS_A_PIECE) {
    const count = Math.min(OBJECTS_A_PIECE, OBJECTS - 1 - first);
    const objects = Array.from(
      { length: count },
      (_, n) => `${head(`many.1.adh.${first + n}`)}"Variables":[],"Children":[]}`,
    );
    yield `${first === 0 ? '' : ','}${objects.join(',')}`;
  }
  yield ']}]';
}

/** 10,000 objects, each the only child of the one before. */
export function deepBody(): string {
  const heads = Array.from(
    { length: LEVELS },
    (_, level) => `${head(`deep.1.adh.${level}`)}"Variables":[],"Children":[`,
  );
  return `[${heads.join('')}${']}'.repeat(LEVELS)}]`;
}

/** A number that JSON cannot represent. */
export const nanBody = (id: string): string =>
  `[${head(id)}"Variables":[{"Name":"load","Type":"Numeric","Value":NaN}],"Children":[]}]`;

/** A text that is not UTF-8: an incomplete character. */
export const brokenTextBody = (id: string): Buffer =>
  Buffer.concat([
    Buffer.from(`[${head(id)}"Variables":[{"Name":"name","Type":"String","Value":"Z`),
    Buffer.from([0xc3]),
    Buffer.from('rich"}],"Children":[]}]'),
  ]);
