// Tests pages as gzip: each page is one member, and text that pages share is compressed once.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { constants, crc32, deflateRawSync, gunzipSync, inflateRawSync } from 'node:zlib';
import { GzipText, deflate } from '#app/exposition/compress/gzip.js';
import type { GzipInput, DeflateStream } from '#app/exposition/compress/gzip.js';
import type { Body } from '#app/model.js';
import { needsPrograms } from '../../support/needs.js';

describe('a gzip page', () => {
  /** Returns a release function and a state that shows whether it has been called. */
  const holding = () => {
    const state = { isHeld: true };
    const release = () => {
      state.isHeld = false;
    };
    return { state, release };
  };
  const text = (word: string, times: number) => Buffer.from(`${word}\n`.repeat(times));
  const bytesOf = async (made: Body | Promise<Body>): Promise<Buffer> =>
    Buffer.concat((await made).buffers);
  /** Returns the gzip bytes of a page that begins with shared buffers and ends with its own. */
  const gzipOf = (start: readonly Uint8Array[], ...end: readonly Uint8Array[]): Promise<Buffer> =>
    bytesOf(new GzipText({ buffers: start }).body(end, () => undefined));
  /** Counts compressions. Each ends when the test calls `finish`. */
  const counting = (buffers: readonly Uint8Array[], deflated?: DeflateStream) => {
    const running: (() => void)[] = [];
    const made: (readonly Uint8Array[])[] = [];
    const compress = async ({ buffers: given }: GzipInput) => {
      made.push(given);
      await new Promise<void>((resolve) => running.push(resolve));
      return deflate(given);
    };
    const gzip = new GzipText({ buffers, deflated }, compress);
    return { gzip, made, finish: () => running.shift()?.() };
  };

  /** Strict readers: they reject bytes after the first member. */
  const readers = [
    ['gzip', ['-dc']],
    [
      'python3',
      [
        '-c',
        'import sys, zlib\nd = zlib.decompressobj(31)\ns = sys.stdout.buffer\n' +
          's.write(d.decompress(sys.stdin.buffer.read()) + d.flush())\n' +
          'sys.exit(0 if d.eof and not d.unused_data else 1)',
      ],
    ],
  ] as const;

  it('decompresses to the page, for any split into buffers', async () => {
    const shared = new SharedArrayBuffer(65_536);
    const buffer = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(200).map((times) => text('metric{label="value"} 1', times)),
      // Shared memory, as kernels and partition threads use it.
      fc.nat(60_000).map((length) => new Uint8Array(shared, 5, length).fill(length)),
    );
    const buffers = fc.array(buffer, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(buffers, buffers, async (start, end) => {
        const { state, release } = holding();
        const body = await new GzipText({ buffers: start }).body(end, release);
        const bytes = Buffer.concat(body.buffers);
        expect(body.bytes).to.equal(bytes.length);
        expect(gunzipSync(bytes).equals(Buffer.concat([...start, ...end]))).to.equal(true);
        expect(state.isHeld).to.equal(false);
      }),
      { numRuns: 50 },
    );
  });

  for (const [program, args] of readers)
    it(`is one gzip member for ${program}, whether the page is large or empty`, async function () {
      needsPrograms(this, program);
      const large = Buffer.from(Uint32Array.from({ length: 400_000 }, (_, i) => i * i).buffer);
      for (const [start, end] of [
        [[large, text('a 1', 50_000), large], [text('own 2', 100)]],
        [[], [text('own 2', 100)]],
        [[text('a 1', 100)], []],
        [[], []],
      ] as const) {
        const input = await gzipOf(start, ...end);
        const { status, stdout, stderr } = spawnSync(program, args, {
          input,
          maxBuffer: 2 ** 24,
        });
        expect([status, stderr.toString()]).to.deep.equal([0, '']);
        expect(stdout.equals(Buffer.concat([...start, ...end]))).to.equal(true);
      }
    });

  it('shares one compression of the text with later pages, during and after the compression', async () => {
    const start = [text('a 1', 100)];
    const { gzip, made, finish } = counting(start);
    const holders = Array.from({ length: 50 }, holding);
    const bodies = holders.map(({ release }, i) => gzip.body([text(`own ${i}`, 3)], release));
    expect(holders.map(({ state }) => state.isHeld)).to.deep.equal([
      true,
      ...Array.from({ length: 49 }, () => false),
    ]);
    finish();
    const unzipped = await Promise.all(
      bodies.map(async (body) => gunzipSync(await bytesOf(body)).toString()),
    );
    expect(holders[0]?.state.isHeld).to.equal(false);
    const later = holding();
    const bytes = await bytesOf(gzip.body([text('own later', 1)], later.release));
    expect(gunzipSync(bytes).toString()).to.match(/^a 1\n[^]*\nown later\n$/);
    expect(later.state.isHeld).to.equal(false);
    unzipped.forEach((each, i) => {
      expect(each.endsWith(`a 1\nown ${i}\nown ${i}\nown ${i}\n`)).to.equal(true);
    });
    expect(made).to.deep.equal([start]);
  });

  it('reuses a ready deflate stream, and holds its text until the stream is sent', async () => {
    const { gzip, made } = counting([text('a 1', 100)], await deflate([text('ready', 2)]));
    const { state, release } = holding();
    const body = await gzip.body([text('own', 3)], release);
    expect(made).to.deep.equal([]);
    expect(state.isHeld).to.equal(true);
    expect(gunzipSync(Buffer.concat(body.buffers)).toString()).to.equal(
      'ready\nready\nown\nown\nown\n',
    );
    body.release();
    expect(state.isHeld).to.equal(false);
  });

  for (const what of ['deflated', 'buffers'])
    it(`releases its text if the property "${what}" of the text throws an error`, () => {
      const { state, release } = holding();
      const failing = Object.defineProperty({ buffers: [] }, what, {
        get: () => {
          throw new Error('no memory');
        },
      });
      expect(() => new GzipText(failing).body([], release)).to.throw('no memory');
      expect(state.isHeld).to.equal(false);
    });

  it('is compressed in parts, two parts at a time', async () => {
    const pages = [2.5, 0.1, 1.7].map((mb) => [text('a 1', mb * 250_000)]);
    let [running, most, parts] = [0, 0, 0];
    const compress = async (part: Uint8Array) => {
      most = Math.max(most, ++running);
      parts++;
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return deflateRawSync(part, { finishFlush: constants.Z_FULL_FLUSH });
    };
    const made = await Promise.all(pages.map((page) => deflate(page, compress)));
    expect({ most, isMany: parts > 6 }).to.deep.equal({ most: 2, isMany: true });
    for (const [index, { buffers, crc, bytes }] of made.entries()) {
      const plain = Buffer.concat(pages[index] ?? []);
      const whole = inflateRawSync(Buffer.concat([...buffers, deflateRawSync('')]));
      expect(whole.equals(plain)).to.equal(true);
      expect({ crc, bytes }).to.deep.equal({ crc: crc32(plain), bytes: plain.length });
    }
  });

  it('copies the buffers of at most four parts at a time', async () => {
    let read = 0;
    const part = text('a 1', 100_000);
    const buffers = Array.from({ length: 40 }, () => part);
    const counted = Object.assign([...buffers], {
      *[Symbol.iterator]() {
        for (const buffer of buffers) {
          read++;
          yield buffer;
        }
      },
    });
    const compressed: number[] = [];
    const compress = async (given: Uint8Array) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      compressed.push(given.length);
      // Parts that are compressed, four others, and the buffer that did not fit into the last one.
      expect(read * part.length).to.be.at.most((compressed.length + 4) * 524_288 + part.length);
      return Buffer.of();
    };
    const { bytes } = await deflate(counted, compress);
    expect(bytes).to.equal(40 * part.length);
    expect(compressed).to.have.lengthOf.above(20);
  });

  it('waits for all parts in compression before it reports a failure, and frees their places in the queue', async function () {
    // If a failed text kept its places in the queue, a later text would wait forever.
    this.timeout(20_000);
    let running = 0;
    const compress = async (part: Uint8Array) => {
      running++;
      await new Promise((resolve) => setTimeout(resolve, part.length === 524_288 ? 20 : 1));
      running--;
      throw new Error('no memory');
    };
    const failure = await deflate([text('a 1', 150_000)], compress).catch(String);
    expect({ failure, running }).to.deep.equal({ failure: 'Error: no memory', running: 0 });
    const { bytes } = await deflate([text('a 1', 150_000)]);
    expect(bytes).to.equal(600_000);
  });

  it('reports a failure of any part while it waits for an earlier one', async () => {
    const failing = [1, 4];
    for (const index of failing) {
      let parts = 0;
      const compress = async () => {
        const number = parts++;
        await new Promise((resolve) => setTimeout(resolve, number === 0 ? 30 : 1));
        if (number === index) throw new Error('no memory');
        return Buffer.of();
      };
      // An unhandled rejection would end this process.
      const failure = await deflate([text('a 1', 1_000_000)], compress).catch(String);
      expect({ failure, parts }).to.deep.equal({ failure: 'Error: no memory', parts: 8 });
    }
  });

  it('releases its text if the compression fails, and tries again at the next request', async () => {
    let fails = true;
    const gzip = new GzipText({ buffers: [text('a 1', 100)] }, ({ buffers }) =>
      fails ? Promise.reject(new Error('no memory')) : deflate(buffers),
    );
    const { state, release } = holding();
    const failure = await bytesOf(gzip.body([], release)).catch((error: unknown) => error);
    expect(String(failure)).to.equal('Error: no memory');
    expect(state.isHeld).to.equal(false);
    fails = false;
    expect(gunzipSync(await bytesOf(gzip.body([], () => undefined))).length).to.equal(400);
  });
});
