// The security key in use; a refused key is read again before the next poll.
import { messageOf } from '../../errors.js';
import type { ComponentConfig } from './component-config.js';
import { PollFailure } from '../poll/poll-failure.js';

export class KeyHolder {
  readonly #component: Pick<ComponentConfig, 'readKey'>;
  #key: string;
  /** True if the component refused the key at the last poll. */
  isRefused = false;

  constructor(component: Pick<ComponentConfig, 'readKey' | 'securityKey'>) {
    this.#component = component;
    this.#key = component.securityKey;
  }

  /** @throws PollFailure `no_key` when a refused key cannot be read again */
  current(): string {
    if (!this.isRefused) return this.#key;
    try {
      this.#key = this.#component.readKey();
    } catch (error) {
      throw new PollFailure(
        'no_key',
        `the key was refused and cannot be read again: ${messageOf(error)}`,
      );
    }
    return this.#key;
  }
}
