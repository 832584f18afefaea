// What the log says of targets that take long to become ready.
import { expect } from 'chai';
import { waitWatch } from '#app/exporter/observers.js';
import { FakeTarget } from '../support/fake-target.js';
import { follow } from '../support/follow.js';
import { VirtualClock } from '../support/virtual-clock.js';

describe('waitWatch', () => {
  const watching = (...targets: FakeTarget[]) => {
    const clock = new VirtualClock();
    const { seen } = follow(waitWatch({ targets }, clock));
    return (seconds: number): readonly string[] => {
      const before = seen.length;
      clock.advance(seconds * 1000);
      return seen.slice(before).map(({ level, message }) => `${level} ${message}`);
    };
  };
  const lose = (target: FakeTarget, reason: string) => target.wait({ ...target.progress, reason });
  const waiting = (reason: string) => lose(new FakeTarget(), reason);

  it('says once what a target waits for, after ten seconds, and once that it goes on', () => {
    const target = waiting('variable mood of H.1.ads');
    const pass = watching(target);
    expect(pass(5)).to.deep.equal([]);
    expect(pass(5)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on variable mood of H.1.ads',
    ]);
    expect(pass(60), 'no line for each look').to.deep.equal([]);
    target.isReady = true;
    expect(pass(5)).to.deep.equal(['info target ads on 82 goes on: it is ready after 75 s']);
    expect(pass(60)).to.deep.equal([]);
  });

  it('says how to list the existing publishers if the target has none', () => {
    const target = waiting('no segment shmApp.pool.82 in shared memory');
    target.publisher = { state: 'absent', reason: '' };
    expect(watching(target)(10)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on no segment shmApp.pool.82 in shared memory; --check-config --live lists the existing publishers',
    ]);
  });

  it('says nothing of a target that is ready soon', () => {
    const target = waiting('root');
    const pass = watching(target);
    expect(pass(5)).to.deep.equal([]);
    target.isReady = true;
    expect(pass(60)).to.deep.equal([]);
  });

  it('never reports a longer wait than there was', () => {
    const target = new FakeTarget();
    const pass = watching(target);
    pass(24);
    lose(target, 'a');
    expect(pass(10.5), 'lost for 10.5 s').to.deep.equal([]);
    expect(pass(2)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on a',
    ]);
    target.isReady = true;
    pass(5);
    pass(3);
    lose(target, 'b');
    expect(pass(9.5), 'lost for 9.5 s').to.deep.equal([]);
  });

  it('says it again of a target that is lost again, and of each of several', () => {
    const [one, other] = [waiting('a'), new FakeTarget('adh', ['80'])];
    const pass = watching(one, other);
    expect(pass(10)).to.have.length(1);
    one.isReady = true;
    lose(other, 'b');
    expect(pass(5)).to.deep.equal(['info target ads on 82 goes on: it is ready after 15 s']);
    expect(pass(10)).to.deep.equal([
      'warning target adh on 80 has not been ready for 10 s: waiting on b',
    ]);
    lose(one, 'c');
    expect(pass(15)).to.deep.equal([
      'warning target ads on 82 has not been ready for 10 s: waiting on c',
    ]);
  });
});
