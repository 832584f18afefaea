// Writing to real descriptors whose readers do not read.
import { expect } from 'chai';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Output } from '#app/stdio/output.js';
import { eventually } from '../support/eventually.js';
import { READERS, flagsOf } from '../support/readers.js';
import type { Reader } from '../support/readers.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('an Output', () => {
  const folder = temporaryFolder();
  const readers: Reader[] = [];
  afterEach(() => {
    for (const each of readers.splice(0)) each.close();
  });

  for (const [name, make] of Object.entries(READERS))
    it(`to ${name} blocks no process, changes no flags of the descriptor, and writes everything once the reader continues`, async () => {
      const reader = make();
      readers.push(reader);
      const flags = flagsOf(reader.fd);
      reader.stop();
      const output = new Output(reader.fd);
      let ends = 0;
      output.line('first\n');
      output.write(
        [Buffer.from('a document of '), Buffer.from('x'.repeat(5000)), Buffer.from('\n')],
        () => ends++,
      );
      output.line('last\n');
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
      expect([output.isIdle, ends]).to.deep.equal([false, 0]);
      expect(flagsOf(reader.fd)).to.equal(flags);
      reader.go();
      let text = '';
      await eventually('the output is written', () => {
        text += reader.read();
        return output.isIdle;
      });
      await output.idle();
      text += reader.read();
      expect(text.replace(/^\.*/, '')).to.equal(`first\na document of ${'x'.repeat(5000)}\nlast\n`);
      expect([ends, flagsOf(reader.fd)]).to.deep.equal([1, flags]);
    });

  const pipe = (): Reader => {
    const reader = READERS['a pipe that is not read']?.();
    if (reader === undefined) throw new Error('There is no pipe');
    readers.push(reader);
    return reader;
  };

  it('drops lines while one mebibyte is unwritten, and accepts lines again when the reader continues', async () => {
    const reader = pipe();
    const output = new Output(reader.fd);
    const line = `${'x'.repeat(999)}\n`;
    let taken = 0;
    while (output.line(line)) taken++;
    expect(taken * line.length).to.be.within((1 << 20) - line.length, 1 << 20);
    let text = '';
    await eventually('the output is written', () => {
      text += reader.read();
      return output.isIdle;
    });
    expect(output.line('again\n')).to.equal(true);
    await output.idle();
    text += reader.read();
    expect(text).to.equal(`${line.repeat(taken)}again\n`);
  });

  it('waits for the reader of a pipe that another program has made non-blocking', async () => {
    const reader = pipe();
    const { O_NONBLOCK, O_WRONLY } = (await import('node:fs')).constants;
    const fd = openSync(`/proc/self/fd/${reader.fd}`, O_WRONLY | O_NONBLOCK);
    reader.stop();
    const output = new Output(fd);
    output.line('late\n');
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(output.isIdle).to.equal(false);
    reader.read();
    await output.idle();
    expect(reader.read()).to.equal('late\n');
    closeSync(fd);
  });

  it('reports each failed write, and drops the rest of the document', async () => {
    const fd = openSync('/dev/full', 'w');
    const failures: unknown[] = [];
    const output = new Output(fd, (error) => failures.push(error));
    let made = 0;
    const buffers = function* () {
      for (; made < 3; made++) yield Buffer.from('x');
    };
    const ended: unknown[] = [];
    output.write(buffers(), (error) => ended.push(error));
    output.line('y\n');
    await output.idle();
    for (const error of [...ended, ...failures]) expect(error).to.have.property('code', 'ENOSPC');
    expect([ended.length, failures.length, made]).to.deep.equal([1, 2, 0]);
    closeSync(fd);
  });

  it('reports the error of a document that fails halfway, and begins the next document on a new line', async () => {
    const path = folder.write('file', '');
    const fd = openSync(path, 'w');
    const output = new Output(fd);
    const ended: unknown[] = [];
    output.write(
      (function* () {
        yield Buffer.from('half');
        throw new Error('no rest');
      })(),
      (error) => ended.push(error),
    );
    output.line('next\n');
    await output.idle();
    expect(readFileSync(path, 'utf8')).to.equal('half\nnext\n');
    expect(ended).to.have.length(1);
    closeSync(fd);
  });
});
