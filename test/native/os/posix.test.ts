// Tests POSIX shared memory on a system that refuses a call.
import { expect } from 'chai';
import { FutexWaiter } from '#app/native/os/futex-waiter.js';
import { posixMemory } from '#app/native/os/posix.js';

describe('A segment that the system refuses to map', () => {
  it('can still be read, and a wait for its changes makes no system call', () => {
    const waiter = new FutexWaiter();
    // No process can map this file. Its path is relative to the folder of shared memory.
    const file = posixMemory(waiter).open('../../proc/self/stat');
    const moved = () => expect.fail('it cannot know');
    file?.wait(0, 0, moved)();
    file?.wait(0, 0, moved)();
    expect(file?.read(Buffer.alloc(1), 1, 0)).to.equal(1);
    file?.close();
    waiter.close();
  });
});
