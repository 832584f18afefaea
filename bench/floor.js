// The floor of the benchmarks: a Node.js server that only sends the bytes of a file.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';

const body = readFileSync(process.argv[2]);
const server = createServer((request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': body.length });
  response.end(body);
});
process.on('message', () => process.send({ done: true }));
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send({ done: true, port: server.address().port }));
