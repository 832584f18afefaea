// Runs work-server.js; its values change when the parent process sends a message. Usage: fork it with the number of
// series.
import { ScrapeWork } from './scrape-work.js';
import { serverOf } from './work-server.js';

const work = new ScrapeWork(Number(process.argv[2]));
const server = serverOf(work);
process.on('message', ({ change }) => {
  work.change(change);
  process.send({ done: true });
});
process.on('disconnect', () => {
  work.close();
  process.exit(0);
});
server.listen(0, '127.0.0.1', () => process.send({ done: true, port: server.address().port }));
