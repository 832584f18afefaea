// Lines as bytes, in pieces that a pipe takes.

/** Characters of a piece, about. */
const PIECE = 32_768;

/** @param taken called when the reader asks for more than the last piece */
export function* pieces(lines: Iterable<string>, taken: () => void): Generator<Uint8Array> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < PIECE) continue;
    yield Buffer.from(text);
    text = '';
    taken();
  }
  if (text !== '') yield Buffer.from(text);
}
