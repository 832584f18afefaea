// What becomes of the log when nobody takes it.
import { expect } from 'chai';
import { closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { logWriter } from '#app/logs/log.js';
import { answerOf } from '../support/processes.js';

const LINE = `${'x'.repeat(999)}\n`;
/** Far more than the system takes for a reader, and than may wait here. */
const MANY = 30_000;

describe('logWriter', () => {
  it('keeps little for a reader who stops, and writes again once there is one', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    const reading = new Promise<Socket>((resolve) => server.once('connection', resolve));
    await new Promise((resolve) => server.once('listening', resolve));
    const stream = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const reader = await reading;
    const write = logWriter(stream, -1);
    for (let line = 0; line < MANY; line++) {
      write(LINE);
      if (line % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(stream.writableLength).to.be.within(1 << 20, (1 << 20) + LINE.length);

    let text = '';
    reader.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    await answerOf('all that waited', () => stream.writableLength === 0 || undefined);
    write('again\n');
    await answerOf('the line after them', () => text.endsWith('again\n') || undefined);
    expect(text.length).to.be.below((MANY * LINE.length) / 2);
    expect(text.slice(0, -'again\n'.length).replaceAll(LINE, '')).to.equal('');
    stream.destroy();
    server.close();
  });

  it('heeds no error, neither of its stream nor of its file', () => {
    const stream = new PassThrough();
    const full = openSync('/dev/full', 'w');
    const write = logWriter(stream, full);
    stream.emit('error', new Error('EPIPE'));
    write(LINE);
    closeSync(full);
    write(LINE);
  });
});
