// The security key in use, and what becomes of it when it is refused.
import { expect } from 'chai';
import { PollFailure } from '#app/bridge/poll/fetch-body.js';
import { KeyHolder } from '#app/bridge/settings/component-table.js';
import { Fault } from '#app/errors.js';

describe('KeyHolder', () => {
  const holder = (...reads: readonly (string | Fault)[]) => {
    let next = 0;
    const readKey = () => {
      const read = reads[next++];
      if (read instanceof Fault || read === undefined) throw read ?? new Error('one too many');
      return read;
    };
    return new KeyHolder({ securityKey: 'first', readKey });
  };

  it('stays with its key while the component takes it', () => {
    const key = holder();
    expect([key.current(), key.current()]).to.deep.equal(['first', 'first']);
  });

  it('reads a key that was refused again, at each poll until it is taken', () => {
    const key = holder('first', 'second');
    key.isRefused = true;
    expect([key.current(), key.current()]).to.deep.equal(['first', 'second']);
    key.isRefused = false;
    expect(key.current()).to.equal('second');
  });

  it('tells why it cannot be read again, as a poll that failed', () => {
    const key = holder(new Fault('CONFIG_INVALID', '/etc/key cannot be read'), 'second');
    key.isRefused = true;
    expect(() => key.current())
      .to.throw(
        PollFailure,
        'the key was refused and cannot be read again: /etc/key cannot be read',
      )
      .with.property('reason', 'no_key');
    expect(key.current()).to.equal('second');
  });
});
