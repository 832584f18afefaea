// Pages as gzip: one member, whatever they are made of, and one compression for what lasts.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { constants, crc32, deflateRawSync, gunzipSync, inflateRawSync } from 'node:zlib';
import { isObservable, lastValueFrom, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Page } from '#app/model.js';
import { deflate, pageCompressor } from '#app/sinks/http/gzip.js';
import { plainPage } from '#app/sinks/http/reply.js';
import { eventually } from '../../support/eventually.js';
import { follow } from '../../support/follow.js';
import { needsPrograms } from '../../support/needs.js';

/** What is ready at once, or comes. */
const streamOf = (made: Page | Observable<Page>): Observable<Page> =>
  isObservable(made) ? made : of(made);

describe('a compressed page', () => {
  /** A page whose first pieces last, and whether it is held. */
  const pageOf = (lasting: readonly Uint8Array[] | undefined, ...fresh: readonly Uint8Array[]) => {
    const pieces = [...(lasting ?? []), ...fresh];
    const state = { isHeld: true };
    const page: Page = {
      contentType: 'text/x',
      pieces,
      bytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
      ...(lasting && { lasting, ending: fresh }),
      release: () => {
        state.isHeld = false;
      },
    };
    return { page, state };
  };
  const text = (word: string, times: number) => Buffer.from(`${word}\n`.repeat(times));
  const pageFrom = async (made: Page | Observable<Page>): Promise<Page> =>
    lastValueFrom(streamOf(made), { defaultValue: plainPage('', '') });
  const bytesOf = async (made: Page | Observable<Page>): Promise<Buffer> =>
    Buffer.concat((await pageFrom(made)).pieces);
  /** Counts compressions; each ends when the test says so. */
  const counting = () => {
    const running: (() => void)[] = [];
    const made: (readonly Uint8Array[])[] = [];
    const compress = async (pieces: readonly Uint8Array[]) => {
      made.push(pieces);
      await new Promise<void>((resolve) => running.push(resolve));
      return deflate(pieces);
    };
    return { compressed: pageCompressor(compress), made, finish: () => running.shift()?.() };
  };

  /** Strict readers: they reject bytes behind the first member. */
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

  it('is the page again once it is unzipped, wherever it is split', async () => {
    const compressed = pageCompressor();
    const shared = new SharedArrayBuffer(65_536);
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(200).map((times) => text('metric{label="value"} 1', times)),
      // As kernels and threads of partitions have it.
      fc.nat(60_000).map((length) => new Uint8Array(shared, 5, length).fill(length)),
    );
    const pieces = fc.array(piece, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, pieces, fc.boolean(), async (first, last, hasLasting) => {
        const { page, state } = hasLasting ? pageOf(first, ...last) : pageOf(undefined, ...first);
        const smaller = await pageFrom(compressed(page));
        const bytes = Buffer.concat(smaller.pieces);
        expect(smaller.bytes).to.equal(bytes.length);
        expect(smaller.contentType).to.equal('text/x');
        expect(gunzipSync(bytes).equals(Buffer.concat(page.pieces))).to.equal(true);
        expect(state.isHeld).to.equal(false);
      }),
      { numRuns: 50 },
    );
  });

  for (const [program, args] of readers)
    it(`is one member that ${program} reads, large or empty`, async function () {
      needsPrograms(this, program);
      const large = Buffer.from(Uint32Array.from({ length: 400_000 }, (_, i) => i * i).buffer);
      for (const { page } of [
        pageOf([large, text('a 1', 50_000), large], text('own 2', 100)),
        pageOf([], text('own 2', 100)),
        pageOf([text('a 1', 100)]),
        pageOf(undefined),
      ]) {
        const input = await bytesOf(pageCompressor()(page));
        const { status, stdout, stderr } = spawnSync(program, args, {
          input,
          maxBuffer: 2 ** 24,
        });
        expect([status, stderr.toString()]).to.deep.equal([0, '']);
        expect(stdout.equals(Buffer.concat(page.pieces))).to.equal(true);
      }
    });

  /** Twelve megabytes that can hardly be compressed. */
  const long = () => Buffer.from(Uint32Array.from({ length: 3_000_000 }, (_, i) => i * i).buffer);
  const short = () => text('a 1', 100);
  for (const [sentence, lasting, bytes, isStored] of [
    ['is compressed to its end where it is short', short, 600, false],
    ['ends as it is where that is next to nothing', long, 600, true],
    ['ends as it is as long as a stored block may be', long, 65_535, true],
    ['is compressed to its end where that is longer', long, 65_536, false],
  ] as const)
    it(sentence, async () => {
      const ending = Buffer.alloc(bytes, 'own 2\n');
      const { page } = pageOf([lasting()], ending);
      const whole = await bytesOf(pageCompressor()(page));
      expect(whole.subarray(-bytes - 8, -8).equals(ending)).to.equal(isStored);
      expect(gunzipSync(whole).equals(Buffer.concat(page.pieces))).to.equal(true);
    });

  it('compresses what lasts once: while it is compressed, and after that', async () => {
    const { compressed, made, finish } = counting();
    const lasting = [text('a 1', 100)];
    const pages = Array.from({ length: 50 }, (_, i) => pageOf(lasting, text(`own ${i}`, 3)));
    const followed = pages.map(({ page }) => follow(streamOf(compressed(page))));
    await eventually('it begins', () => made.length > 0);
    expect(pages.map(({ state }) => state.isHeld)).to.deep.equal([
      true,
      ...Array.from({ length: 49 }, () => false),
    ]);
    finish();
    await eventually('all are there', () => followed.every(({ seen }) => seen.length === 1));
    expect(pages[0]?.state.isHeld).to.equal(false);
    const later = pageOf(lasting, text('own later', 1));
    const bytes = await bytesOf(compressed(later.page));
    expect(gunzipSync(bytes).toString()).to.match(/^a 1\n[^]*\nown later\n$/);
    expect(later.state.isHeld).to.equal(false);
    followed.forEach(({ seen }, i) => {
      const unzipped = gunzipSync(Buffer.concat(seen[0]?.pieces ?? [])).toString();
      expect(unzipped.endsWith(`a 1\nown ${i}\nown ${i}\nown ${i}\n`)).to.equal(true);
    });
    expect(made).to.deep.equal([lasting]);
  });

  it('takes a stream that is ready, and holds its page for as long as it is sent', async () => {
    const { compressed, made } = counting();
    const { page, state } = pageOf([text('a 1', 100)], text('own', 3));
    const packed = await pageFrom(
      compressed({ ...page, deflated: await deflate([text('ready', 2)]) }),
    );
    expect(made).to.deep.equal([]);
    expect(state.isHeld).to.equal(true);
    expect(gunzipSync(Buffer.concat(packed.pieces)).toString()).to.equal(
      'ready\nready\nown\nown\nown\n',
    );
    packed.release();
    expect(state.isHeld).to.equal(false);
  });

  it('of which the ready parts fail is released', () => {
    const { page, state } = pageOf([text('a 1', 100)]);
    const failing = Object.defineProperty({ ...page }, 'deflated', {
      get: () => {
        throw new Error('no memory');
      },
    });
    expect(() => pageCompressor()(failing)).to.throw('no memory');
    expect(state.isHeld).to.equal(false);
  });

  it('goes by the list, never by the pieces: their memory is used again', async () => {
    const compressed = pageCompressor();
    const piece = text('a 1', 100);
    const unzipped = async () =>
      gunzipSync(await bytesOf(compressed(pageOf([piece]).page))).toString();
    expect(await unzipped()).to.match(/^a 1\n/);
    piece.fill('b 2\n');
    expect(await unzipped()).to.match(/^b 2\n/);
  });

  it('is held until it is compressed, also when nobody waits for it any more', async () => {
    const { compressed, made, finish } = counting();
    const lasting = [text('a 1', 100)];
    const { page, state } = pageOf(lasting);
    const { subscription } = follow(streamOf(compressed(page)));
    await eventually('it begins', () => made.length === 1);
    subscription.unsubscribe();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(state.isHeld).to.equal(true);
    finish();
    await eventually('it is released', () => !state.isHeld);
    await bytesOf(compressed(pageOf(lasting).page));
    expect(made.length).to.equal(1);
  });

  it('is compressed in parts, two at once, so that the pool has threads left', async () => {
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
    for (const [index, { pieces, crc, bytes }] of made.entries()) {
      const plain = Buffer.concat(pages[index] ?? []);
      const whole = inflateRawSync(Buffer.concat([...pieces, deflateRawSync('')]));
      expect(whole.equals(plain)).to.equal(true);
      expect({ crc, bytes }).to.deep.equal({ crc: crc32(plain), bytes: plain.length });
    }
  });

  it('is not given up before no thread reads it any more', async () => {
    let running = 0;
    const compress = async (part: Uint8Array) => {
      running++;
      await new Promise((resolve) => setTimeout(resolve, part.length === 524_288 ? 20 : 1));
      running--;
      throw new Error('no memory');
    };
    const failure = await deflate([text('a 1', 150_000)], compress).catch(String);
    expect({ failure, running }).to.deep.equal({ failure: 'Error: no memory', running: 0 });
  });

  it('that cannot be compressed is released, and is tried again the next time', async () => {
    let fails = true;
    const compressed = pageCompressor((pieces) =>
      fails ? Promise.reject(new Error('no memory')) : deflate(pieces),
    );
    const lasting = [text('a 1', 100)];
    const first = pageOf(lasting);
    const failure = await bytesOf(compressed(first.page)).catch((error: unknown) => error);
    expect(String(failure)).to.equal('Error: no memory');
    expect(first.state.isHeld).to.equal(false);
    fails = false;
    expect(gunzipSync(await bytesOf(compressed(pageOf(lasting).page))).length).to.equal(400);
  });

  it('is kept as long as what lasts, and no longer', async () => {
    const compressed = pageCompressor();
    const lists = [[text('a 1', 100)], [text('b 2', 100)]];
    const keep = async (list: readonly Uint8Array[] = []): Promise<WeakRef<object>> => {
      const [, last] = (await pageFrom(compressed(pageOf(list).page))).pieces;
      return new WeakRef<object>(last ?? list);
    };
    const kept = [await keep(lists[0]), await keep(lists[1])];
    const alive = async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      globalThis.gc?.();
      return kept.filter((each) => each.deref() !== undefined).length;
    };
    expect(await alive()).to.equal(2);
    lists.length = 0;
    for (let tries = 0; tries < 20 && (await alive()) > 0; tries++);
    expect(await alive()).to.equal(0);
  });
});
