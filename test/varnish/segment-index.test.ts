// Tests the index of a directory of segments: incremental reads, and content that is refused.
import { expect } from 'chai';
import fc from 'fast-check';
import { Fault } from '#app/errors.js';
import { SegmentIndex } from '#app/varnish/segment-index.js';

const FIRST = '# 4711 1795443263\n';
const identsOf = (index: SegmentIndex): string[] => [...index.entries].map(({ ident }) => ident);

function indexOf(text: string): SegmentIndex {
  const index = new SegmentIndex();
  index.append(Buffer.from(text, 'latin1'));
  return index;
}

/** Lines that often add and remove the same few segments. */
const lines = fc.array(
  fc.record({
    isAdded: fc.boolean(),
    file: fc.constantFrom('_.Stat.00ff', '_.VSC_cluster.0a', '_.Log.01'),
    offset: fc.constantFrom(0, 16, 200),
    className: fc.constantFrom('Stat', 'StatDoc', 'Log', ''),
    ident: fc.constantFrom('MAIN', 'VBE.boot.a', 'VBE.boot.b(1.2.3.4,,80)', '', 'with blank'),
  }),
  { maxLength: 40 },
);

describe('An index of Varnish segments', () => {
  it('has the same entries however its text is divided into parts', () => {
    fc.assert(
      fc.property(lines, fc.array(fc.nat(60), { maxLength: 30 }), (changes, lengths) => {
        const texts: string[] = [];
        const model = new Set<string>();
        for (const { isAdded, file, offset, className, ident } of changes) {
          const place = `${file} ${offset} 64 `;
          const line = `${place}${className} ${ident}\n`;
          const isSegment = className.startsWith('Stat');
          // Two segments never have the same file and offset.
          const isTaken = [...model].some((each) => each !== line && each.startsWith(place));
          if (isAdded && isSegment && isTaken) continue;
          texts.push(`${isAdded ? '+' : '-'} ${line}`);
          if (isAdded && isSegment) model.add(line);
          else model.delete(line);
        }
        const bytes = Buffer.from(FIRST + texts.join(''), 'latin1');
        const index = new SegmentIndex();
        let from = 0;
        for (const length of lengths) {
          index.append(bytes.subarray(from, from + length));
          from = Math.min(bytes.length, from + length);
        }
        index.append(bytes.subarray(from));
        const entries = [...index.entries].map(
          ({ file, offset, length, className, ident }) =>
            `${file} ${offset} ${length} ${className} ${ident}\n`,
        );
        expect(entries.sort()).to.deep.equal([...model].sort());
        expect(index.writer).to.deep.equal({ pid: 4711, birth: 1_795_443_263 });
      }),
    );
  });

  it('is either read or refused for any content, and never has more entries than lines', () => {
    const text = `${FIRST}+ _.Stat.00ff 0 64 Stat MAIN\n- _.Stat.00ff 0 64 Stat MAIN\n`;
    const damaged = fc.array(fc.record({ at: fc.nat(text.length - 1), byte: fc.nat(255) }));
    fc.assert(
      fc.property(damaged, fc.uint8Array(), (damages, more) => {
        const bytes = Buffer.from(text, 'latin1');
        for (const { at, byte } of damages) bytes[at] = byte;
        try {
          new SegmentIndex().append(Buffer.concat([bytes, more]));
        } catch (error) {
          expect(error).to.be.instanceOf(Fault);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('names the process that writes the index as soon as the first line is complete', () => {
    expect(indexOf('# 4711 17954').writer).to.equal(undefined);
    expect(indexOf('# 4711 17954\n').writer).to.deep.equal({ pid: 4711, birth: 17_954 });
  });

  it('keeps segments in the order in which they were added', () => {
    const index = indexOf(
      `${FIRST}+ _.Stat.1 0 64 Stat B\n+ _.Stat.2 0 64 Stat A\n- _.Stat.1 0 64 Stat B\n+ _.Stat.1 0 64 Stat B\n`,
    );
    expect(identsOf(index)).to.deep.equal(['A', 'B']);
  });

  it('keeps the entries of unchanged lines when the same process rewrites the index', () => {
    const before = indexOf(`${FIRST}+ _.Stat.1 0 64 Stat A\n+ _.Stat.2 0 64 Stat B\n`);
    const after = new SegmentIndex();
    after.append(Buffer.from(`${FIRST}+ _.Stat.2 0 64 Stat B\n+ _.Stat.3 0 64 Stat C\n`), before);
    const [b, c] = after.entries;
    expect(b).to.equal([...before.entries][1]);
    expect(c && before.same(c)).to.equal(undefined);
  });

  const refused: readonly (readonly [string, string])[] = [
    ['a first line that names no process', '# 0 1795443263\n'],
    ['a first line that is not a comment', '+ _.Stat.1 0 64 Stat A\n'],
    ['a path instead of a file name', `${FIRST}+ ../_.Stat.1 0 64 Stat A\n`],
    ['a file of another name', `${FIRST}+ /etc/passwd 0 64 Stat A\n`],
    ['an offset below zero', `${FIRST}+ _.Stat.1 -8 64 Stat A\n`],
    ['a length that is not a number', `${FIRST}+ _.Stat.1 0 many Stat A\n`],
    ['a sign other than + and -', `${FIRST}* _.Stat.1 0 64 Stat A\n`],
    ['a line without an end', FIRST + 'x'.repeat(2000)],
  ];
  for (const [what, text] of refused)
    it(`is refused with ${what}`, () => {
      expect(() => indexOf(text)).to.throw(
        Fault,
        /^line [12] of the index is not in Varnish's format$/,
      );
    });

  it('is refused if it adds a segment at an offset where another segment still exists', () => {
    const line = (sign: string, ident: string) => `${sign} _.Stat.1 16 64 Stat ${ident}\n`;
    const first = FIRST + line('+', 'A') + line('+', 'A');
    expect(() => indexOf(first + line('+', 'B'))).to.throw(
      Fault,
      /^line 4 of the index is not in Varnish's format/,
    );
    expect(identsOf(indexOf(first + line('-', 'A') + line('+', 'B')))).to.deep.equal(['B']);
  });

  it('stores a limited number of segments, and counts further segments', () => {
    const index = new SegmentIndex();
    index.append(Buffer.from(FIRST));
    for (let at = 0; at < 9000; at++) index.append(Buffer.from(`+ _.Stat.1 ${at} 64 Stat A\n`));
    expect([identsOf(index).length, index.leftOut]).to.deep.equal([8448, 552]);
    index.append(Buffer.from('- _.Stat.1 8999 64 Stat A\n'));
    expect(index.leftOut).to.equal(551);
  });
});
