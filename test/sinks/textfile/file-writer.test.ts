// Tests the textfile writer: it replaces files atomically, and removes them at the end.
import { expect } from 'chai';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEVER, lastValueFrom, merge } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Document } from '#app/model.js';
import { fileWriter, removedAtEnd } from '#app/sinks/textfile/file-writer.js';
import { waitFor } from '../../support/processes.js';

/** Returns the number of bytes written. */
const written = (write$: Observable<number>): Promise<number> =>
  lastValueFrom(write$, { defaultValue: 0 });

describe('fileWriter', () => {
  let folder: string;
  let path: string;
  let released: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'textfile-'));
    path = join(folder, 'shm_exporter.prom');
    released = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const documentOf = (buffers: Iterable<Uint8Array>): Document => ({
    buffers,
    release: () => {
      released++;
    },
  });
  const textOf = (...texts: string[]) => documentOf(texts.map((text) => Buffer.from(text)));

  it('replaces the file, and leaves no temporary file', async () => {
    writeFileSync(path, 'old');
    const bytes = await written(fileWriter(path)(textOf('a 1\n', 'b 2\n')));
    expect(bytes).to.equal(8);
    expect(readFileSync(path, 'utf8')).to.equal('a 1\nb 2\n');
    expect(readdirSync(folder)).to.deep.equal(['shm_exporter.prom']);
    expect(released).to.equal(1);
  });

  it('writes a world-readable file, whatever the umask', async () => {
    const before = process.umask(0o077);
    try {
      await written(fileWriter(path)(textOf('a 1\n')));
    } finally {
      process.umask(before);
    }
    expect(statSync(path).mode & 0o777).to.equal(0o644);
  });

  it('keeps the old file while the new file is written', async () => {
    writeFileSync(path, 'old');
    const seen: string[] = [];
    const buffers = function* () {
      for (const piece of ['a 1\n', 'b 2\n']) {
        yield Buffer.from(piece);
        seen.push(readFileSync(path, 'utf8'));
      }
    };
    await written(fileWriter(path)(documentOf(buffers())));
    expect(seen).to.deep.equal(['old', 'old']);
  });

  it('reports a missing folder, and tries again with the next document', async () => {
    const write = fileWriter(join(folder, 'gone', 'x.prom'));
    for (const nth of [1, 2]) {
      const error: unknown = await written(write(textOf('a 1\n'))).catch((why: unknown) => why);
      expect(String(error)).to.equal(
        `NotWritten: cannot write ${folder}/gone/x.prom: ENOENT: no such file or directory`,
      );
      expect(released).to.equal(nth);
    }
  });

  it('keeps the old file, and removes the temporary file, if it is unsubscribed during a write', async () => {
    writeFileSync(path, 'old');
    const buffers = function* () {
      for (;;) yield Buffer.alloc(100_000, '#');
    };
    const writing = fileWriter(path)(documentOf(buffers())).subscribe();
    await waitFor('a draft', () => readdirSync(folder)[1]);
    writing.unsubscribe();
    await waitFor('an end', () => (released === 1 ? true : undefined));
    expect(readdirSync(folder)).to.deep.equal(['shm_exporter.prom']);
    expect(readFileSync(path, 'utf8')).to.equal('old');
  });

  it('removes the file on unsubscription, even during a write', async () => {
    const write = fileWriter(path);
    await written(write(textOf('a 1\n')));
    const running = merge(NEVER, write(textOf('a 2\n')), removedAtEnd(path)).subscribe();
    running.unsubscribe();
    const isOver = () => released === 2 && readdirSync(folder).length === 0;
    await waitFor('no file, and no document that is held', () => isOver() || undefined);
  });
});
