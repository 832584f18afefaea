// Sending one reply over a real connection.
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plainPage, send } from '#app/sinks/http/reply.js';

describe('a reply', () => {
  it('is written to the socket at once, before other work', async () => {
    let waiting: number | undefined;
    const page = plainPage('', 'text/plain');
    const buffers = [Buffer.alloc(1200, 'a'), Buffer.alloc(800, 'b')];
    const body = { buffers, bytes: 2000, release: () => undefined };
    const server = createServer((request, response) => {
      const sent$ = send(request, response, { status: 200, page, body, saved: 0 }, {});
      sent$.subscribe();
      waiting = request.socket.writableLength;
    }).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/`);
      expect(await response.text()).to.equal(Buffer.concat(buffers).toString());
      expect(waiting).to.equal(0);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
