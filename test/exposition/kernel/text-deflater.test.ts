// Texts that are compressed as a whole, against zlib.
import { expect } from 'chai';
import fc from 'fast-check';
import { crc32, inflateRawSync } from 'node:zlib';
import { CodeFit } from '#app/exposition/kernel/code-fit.js';
import { TextDeflater } from '#app/exposition/kernel/text-deflater.js';

const END_OF_STREAM = Buffer.from([3, 0]);
const deflater = new TextDeflater();
/** Of all texts: one for another text is worse, not wrong. */
const fit = new CodeFit();
const memory = (words: number): Uint32Array => new Uint32Array(words);

/** A text in pieces, compressed and unpacked again. */
function roundTrip(text: Buffer, piece = text.length): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; at += piece) pieces.push(text.subarray(at, at + piece));
  const made = deflater.deflate(pieces, fit, memory);
  expect([made.crc, made.bytes]).to.deep.equal([crc32(text), text.length]);
  return inflateRawSync(Buffer.concat([...made.pieces, END_OF_STREAM]));
}

const word = fc.stringMatching(/^[a-z_]{1,9}$/);
const labelText = fc.oneof(
  fc.constant(''),
  fc.constant(' '),
  fc.tuple(word, fc.string({ maxLength: 40 })).map(([name, value]) => `{${name}="${value}"} `),
  fc.nat(30).map((n) => `{host="md-${n % 7}.example.net",client="client-${n}"} `),
  fc.nat(2000).map((n) => `{long="${'abcdefgh'.repeat(n)}"} `),
);
const value = fc.oneof(
  fc.nat().map(String),
  fc.double().map(String),
  fc.constantFrom('NaN', '+Inf', '-0', ''),
);
/** Families whose lines have the same labels, but for some that lack or come. */
const exposition = fc
  .tuple(
    fc.array(labelText, { maxLength: 30 }),
    fc.array(fc.tuple(word, fc.array(fc.tuple(fc.nat(9), value), { maxLength: 30 })), {
      maxLength: 12,
    }),
  )
  .map(([labels, families]) =>
    families
      .map(([name, lines]) => {
        const samples = lines.flatMap(([lot, number], index) => {
          const suffix = lot === 1 ? '_sum' : '';
          return lot === 0 ? [] : [`${name}${suffix}${labels[index] ?? ' '}${number}\n`];
        });
        return `# HELP ${name} About it.\n# TYPE ${name} gauge\n${samples.join('')}`;
      })
      .join(''),
  );

describe('a text that is compressed as a whole', () => {
  it('is the same once it is unpacked: an exposition', () => {
    fc.assert(
      fc.property(exposition, fc.integer({ min: 1, max: 400 }), (text, piece) => {
        const bytes = Buffer.from(text);
        expect(roundTrip(bytes, piece).equals(bytes)).to.equal(true);
      }),
      { numRuns: 400 },
    );
  });

  it('is the same once it is unpacked: any text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\n', '# ', '{', '} ', ' ', 'a', 'bb', 'ccc', '12', '\0', 'é'), {
          maxLength: 600,
          size: 'max',
        }),
        (parts) => {
          const bytes = Buffer.from(parts.join(''));
          expect(roundTrip(bytes).equals(bytes)).to.equal(true);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is the same once it is unpacked: bytes that repeat at the end of what a stream refers to', () => {
    for (const apart of [32_700, 32_767, 32_768, 32_769, 40_000]) {
      const line = `f{id="some labels that are long enough to be referred to"} `;
      const filler = `# ${'x'.repeat(apart - line.length - 8)}\n`;
      const text = `${line}1\n${filler}${line}2\n# y\n${line}3\n`;
      expect(roundTrip(Buffer.from(text)).toString()).to.equal(text);
    }
  });

  it('is taken up to 4 MiB, or fewer of many families', () => {
    for (const [bytes, families, isTaken] of [
      [2 ** 22, 0, true],
      [2 ** 22 + 1, 0, false],
      [2 ** 21, 682, true],
      [2 ** 21, 683, false],
    ] as const)
      expect(deflater.takes(bytes, families), `${bytes}, ${families}`).to.equal(isTaken);
  });

  it('is taken at every length, however slowly it grows', () => {
    const growing = new TextDeflater();
    const line = 'f{id="some labels that are long enough to be referred to"} 12345\n';
    const longest = Buffer.from(line.repeat(2 ** 22 / line.length));
    for (let bytes = 1000; bytes <= longest.length; bytes = Math.ceil(bytes * 1.04)) {
      expect(growing.takes(bytes, 0), `${bytes}`).to.equal(true);
      const { crc, pieces } = growing.deflate([longest.subarray(0, bytes)], fit, memory);
      expect(crc).to.equal(crc32(longest.subarray(0, bytes)));
      expect(inflateRawSync(Buffer.concat([...pieces, END_OF_STREAM])).length).to.equal(bytes);
    }
  });

  it('is left to zlib where there is no memory for it, and shorter ones are not', () => {
    const small = new TextDeflater(224);
    const lengths = [100_000, 2 ** 22, 100_000, 1_000_000, 3_000_000, 200_000];
    expect(lengths.map((bytes) => small.takes(bytes, 0))).to.deep.equal([
      ...[true, false, true, true, false, true],
    ]);
    const text = Buffer.from('x 1\n'.repeat(50_000));
    expect(small.deflate([text], fit, memory).crc).to.equal(crc32(text));
    expect(() => small.deflate([Buffer.alloc(2 ** 22)], fit, memory)).to.throw('no memory');
  });

  it('is the same once it is unpacked: 4 MiB in which nothing repeats', () => {
    const noise = Buffer.alloc(2 ** 22, (Math.random() * 1e9).toString(36));
    for (let i = 0; i < noise.length; i += 3) noise[i] = Math.floor(Math.random() * 256);
    expect(roundTrip(noise).equals(noise)).to.equal(true);
  });
});
