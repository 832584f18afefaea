// Tests threads whose code the program reads when it starts.
import { expect } from 'chai';
import { Fault } from '#app/errors.js';
import { startThread } from '#app/thread-code.js';

describe('startThread', () => {
  const failureOf = (error: Error): unknown => {
    try {
      return startThread(() => {
        throw error;
      });
    } catch (thrown) {
      return thrown;
    }
  };

  it('throws an error with a remedy if the system refuses a further thread', () =>
    expect(failureOf(new Error('Worker initialization failure: EAGAIN')))
      .to.be.instanceOf(Fault)
      .with.property(
        'message',
        'Worker initialization failure: EAGAIN: raise the limit on processes (ulimit -u, TasksMax of the unit, pids.max of the cgroup)',
      ));

  it('rethrows an error of Node.js that is not about a system limit', () => {
    const error = new TypeError('invalid option');
    expect(failureOf(error)).to.equal(error);
  });
});
