// Tests the security key in use, and its renewal after a component refuses it.
import { expect } from 'chai';
import { PollFailure } from '#app/bridge/poll/fetch-body.js';
import { KeyHolder } from '#app/bridge/settings/component-table.js';
import { Fault } from '#app/errors.js';

describe('The key of a component', () => {
  const holder = (...reads: readonly (string | Fault)[]) => {
    let next = 0;
    const readKey = () => {
      const read = reads[next++];
      if (read instanceof Fault || read === undefined) throw read ?? new Error('one too many');
      return read;
    };
    return new KeyHolder({ securityKey: 'first', readKey });
  };

  it('is not reread while the component accepts it', () => {
    const key = holder();
    expect([key.current(), key.current()]).to.deep.equal(['first', 'first']);
  });

  it('is reread at each poll after a refusal, until the component accepts it', () => {
    const key = holder('first', 'second');
    key.isRefused = true;
    expect([key.current(), key.current()]).to.deep.equal(['first', 'second']);
    key.isRefused = false;
    expect(key.current()).to.equal('second');
  });

  it('causes a failed poll if it cannot be reread', () => {
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
