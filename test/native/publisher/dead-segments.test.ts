// Tests that processes remove the segments that killed processes left under server keys with their pids.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pid, ppid } from 'node:process';
import { pathToFileURL } from 'node:url';
import { Registry, publish } from '#app/native/publisher/library.js';
import { SHM_FOLDER } from '#app/native/os/shared-memory.js';
import { HEADER } from '#app/native/segment/layout.js';
import { PROJECT } from '../../support/processes.js';
import { freshSegments } from '../../support/segments.js';

const LIBRARY = pathToFileURL(join(PROJECT, 'dist/native/publisher/library.js')).href;

describe('The segments of killed processes', function () {
  this.slow(10_000);
  const segments = freshSegments();

  /** Publishes in another process, which kills itself. Returns its pid. */
  const killed = (serverKey: string, thread = false): number => {
    const options = JSON.stringify({ serverKey, contextId: segments.contextId, app: 'shop' });
    const code = `import { publish } from '${LIBRARY}';
      publish(${options});
      process.kill(process.pid, 'SIGKILL');`;
    const url = JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`);
    const inThread = `import { Worker } from 'node:worker_threads'; new Worker(new URL(${url}));`;
    const args = ['--input-type=module', '-e', thread ? inThread : code];
    const ended = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(ended.signal, ended.stderr).to.equal('SIGKILL');
    return ended.pid;
  };
  /** Publishes in this process, and returns the server keys of all segments. */
  const keysBeside = (serverKey: string): string[] => {
    const { contextId } = segments;
    const published = publish({ serverKey, contextId, app: 'shop', register: new Registry() });
    const keys = segments.files().map((file) => file.slice(segments.name('').length));
    published.close();
    return keys.filter((key) => key !== serverKey.replace('{pid}', `${pid}`));
  };

  it('are removed by the next process whose key differs only in {pid}', () => {
    const gone = killed('shop-{pid}.v1');
    expect(segments.files()).to.deep.equal([segments.name(`shop-${gone}.v1`)]);
    expect(keysBeside('shop-{pid}.v1')).to.deep.equal([]);
  });

  it('are removed, too, if a worker thread published them', () => {
    killed('shop-{pid}', true);
    expect(keysBeside('shop-{pid}')).to.deep.equal([]);
  });

  it('are removed, too, if their process was killed before it renamed them', () => {
    const key = `shop-${killed('shop-{pid}.v1')}.v1`;
    const temporary = `${SHM_FOLDER}/.${segments.name(key)}.4711.0123abcd.tmp`;
    renameSync(segments.path(key), temporary);
    expect(keysBeside('shop-{pid}.v1')).to.deep.equal([]);
  });

  it('stay if the key has no {pid}, differs elsewhere, or has another number than the pid', () => {
    const other = `shop-${killed('shop-{pid}')}`;
    killed('shop-7.v1');
    expect(keysBeside('shop-{pid}.v1')).to.have.members([other, 'shop-7.v1']);
    expect(keysBeside('shop')).to.have.members([other, 'shop-7.v1']);
  });

  it('stay while their process lives', () => {
    segments.publish(`shop-${pid}.5`);
    expect(keysBeside('shop-{pid}')).to.deep.equal([`shop-${pid}.5`]);
  });

  it('stay if another process has the pid again, which may be about to replace them', () => {
    const used = `shop-${ppid}`;
    const left = segments.path(`shop-${killed('shop-{pid}')}`);
    const fd = openSync(left, 'r+');
    writeSync(fd, Buffer.from(BigUint64Array.of(BigInt(ppid)).buffer), 0, 8, HEADER.pid);
    closeSync(fd);
    renameSync(left, segments.path(used));
    expect(keysBeside('shop-{pid}')).to.deep.equal([used]);
  });
});
