// Tests writing to real pipes and files whose readers are slow, stop or disappear.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import ffi from 'ffi-napi';
import { firstValueFrom, map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Document } from '#app/model.js';
import { documentWriter } from '#app/sinks/stdout/stdout.js';
import { Output } from '#app/stdio/output.js';
import { BrokenPipe, NotWritten } from '#app/stdio/print.js';
import { eventually } from '../../support/eventually.js';
import { follow } from '../../support/follow.js';
import { stopProcess } from '../../support/stop-process.js';

const libc = ffi.Library(null, { socket: ['int', ['int', 'int', 'int']] });

const writerTo = (fd: number) => documentWriter(new Output(fd));

describe('documentWriter', () => {
  let folder = '';
  const children: ChildProcess[] = [];
  const fds: number[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pipe-writer-'));
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const fd of fds.splice(0)) closeSync(fd);
    rmSync(folder, { recursive: true });
  });

  const page = (...buffers: readonly string[]) => {
    const bytes = buffers.map((piece) => Buffer.from(piece));
    const made = {
      buffers: bytes,
      released: 0,
      release: () => {
        made.released++;
      },
    };
    return made satisfies Document;
  };
  const NOTHING = { defaultValue: undefined };
  const taken = async (write$: Observable<number>) => {
    const told$ = write$.pipe(map(() => 'taken'));
    expect(await firstValueFrom(told$, { defaultValue: 'not taken' })).to.equal('taken');
  };
  const open = (name: string, flags: string) => {
    const fd = openSync(join(folder, name), flags);
    fds.push(fd);
    return fd;
  };

  /** A named pipe, and `cat`, which reads from it and writes to a file. */
  const toCat = async () => {
    const make = spawn('mkfifo', [join(folder, 'pipe')]);
    await eventually('the pipe is made', () => make.exitCode === 0);
    const cat = spawn('cat', [join(folder, 'pipe')], {
      stdio: ['ignore', open('out', 'w'), 'ignore'],
    });
    children.push(cat);
    const fd = openSync(join(folder, 'pipe'), 'w'); // waits for cat
    return { cat, write: writerTo(fd), out: () => readFileSync(join(folder, 'out'), 'utf8') };
  };

  it('writes the chunks of a page in order, and releases the page once', async () => {
    const { write, out } = await toCat();
    const first = page('a\n', 'b\n', '', 'c\n');
    const second = page('d\n');
    await taken(write(first));
    await taken(write(second));
    await eventually('the reader has all', () => out() === 'a\nb\nc\nd\n');
    expect([first.released, second.released]).to.deep.equal([1, 1]);
  });

  it('keeps the page while the reader is stopped, without blocking the process', async () => {
    const { cat, write, out } = await toCat();
    await taken(write(page('start\n')));
    await eventually('the reader reads', () => out() === 'start\n');
    await stopProcess(cat.pid ?? 0);
    const huge = page('x'.repeat(500_000), 'y'.repeat(500_000));
    const { seen } = follow(write(huge));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([seen.length, huge.released]).to.deep.equal([0, 0]);
    cat.kill('SIGCONT');
    await eventually('the page is taken', () => seen.length === 1);
    expect(huge.released).to.equal(1);
    await eventually('the reader has all', () => out().length === 1_000_006);
  });

  it('writes each chunk once the reader has taken the previous one, and lets other work run between chunks', async () => {
    const { cat, write, out } = await toCat();
    let made = 0;
    let turns = 0;
    const turn = () => {
      turns++;
      if (made < 100) setImmediate(turn);
    };
    const buffers = function* () {
      for (; made < 100; made++) {
        expect(turns, 'turns of the event loop').to.be.at.least(made - 1);
        yield Buffer.from('x'.repeat(10_000));
      }
    };
    await stopProcess(cat.pid ?? 0);
    turn();
    const { seen, subscription } = follow(write({ buffers: buffers(), release: () => undefined }));
    await eventually('the pipe is full', () => made >= 6);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // Only six buffers fit into the pipe.
    expect(made).to.be.below(10);
    // A document that was begun is written to its end, because readers need complete documents.
    subscription.unsubscribe();
    cat.kill('SIGCONT');
    await eventually('the reader has all', () => out().length === 1_000_000);
    expect(seen).to.deep.equal([]);
  });

  it('fails with BrokenPipe when the pipe has no reader, and releases the page', async () => {
    const { cat, write } = await toCat();
    await taken(write(page('start\n')));
    cat.kill('SIGKILL');
    await eventually('the reader is gone', () => cat.signalCode !== null);
    for (let attempt = 0; attempt < 2; attempt++) {
      const lost = page('x'.repeat(100_000), 'y');
      const failure = await firstValueFrom(write(lost), NOTHING).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(BrokenPipe);
      await eventually('the page is released', () => lost.released === 1);
    }
  });

  it('fails with BrokenPipe when the reader disappears while a page waits for it', async () => {
    const { cat, write, out } = await toCat();
    await taken(write(page('start\n')));
    await eventually('the reader reads', () => out() === 'start\n');
    await stopProcess(cat.pid ?? 0);
    const waiting = page('x'.repeat(1_000_000));
    const failure = firstValueFrom(write(waiting), NOTHING).catch((error: unknown) => error);
    cat.kill('SIGKILL');
    expect(await failure).to.be.instanceOf(BrokenPipe);
    expect(waiting.released).to.equal(1);
  });

  it('fails with BrokenPipe for a socket without a peer', async () => {
    const [unix, stream] = [1, 1];
    // The socket has no peer, so a write fails with ENOTCONN.
    const write = writerTo(libc.socket(unix, stream, 0));
    const lost = page('a\n');
    const failure = await firstValueFrom(write(lost), NOTHING).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(BrokenPipe);
    expect(lost.released).to.equal(1);
  });

  it('writes to a file', async () => {
    const write = writerTo(open('file', 'w'));
    await taken(write(page('a\n', 'b\n')));
    await taken(write(page('c\n')));
    expect(readFileSync(join(folder, 'file'), 'utf8')).to.equal('a\nb\nc\n');
  });

  it('fails with NotWritten for a file that cannot be written', async () => {
    const write = writerTo(openSync('/dev/full', 'w'));
    const lost = page('a\n');
    const failure = await firstValueFrom(write(lost), NOTHING).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(NotWritten);
    expect(failure).to.have.property(
      'message',
      'stdout cannot be written: no space left on the device',
    );
    expect(lost.released).to.equal(1);
  });
});
