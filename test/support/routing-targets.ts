// Targets on real segments in the states that a test chooses, and a listener that serves them.
import type { Scope } from '#app/model.js';
import { eventually } from './eventually.js';
import { LiveTargets } from './live-targets.js';
import type { Configured, Standing } from './routing-oracle.js';
import { Publishers } from './publishers.js';
import { ServingHttp } from './serving-http.js';

export class RoutingTargets {
  readonly #publishers = new Publishers();
  readonly #live: LiveTargets;
  readonly #http: ServingHttp;

  constructor(
    private readonly configured: readonly Configured[],
    scopes: readonly Scope[],
  ) {
    this.#live = new LiveTargets(
      this.#publishers,
      configured.map(({ target: { hint, ...each } }) => ({ ...each, instance: hint })),
    );
    const scope = (name: string) => scopes.find((each) => each.name === name);
    this.#http = new ServingHttp(this.#live.targets, { scope });
  }

  /** Brings every target into its state, and resolves with the origin of the listener. */
  async set(): Promise<string> {
    const leave = this.#publish();
    await this.#reached((standing) => standing === 'lost' || standing === 'ready', true);
    leave();
    await this.#reached((standing) => standing === 'lost', false);
    await this.#http.opened();
    return this.#http.origin;
  }

  end(): void {
    this.#http.end();
    this.#live.end();
    this.#publishers.closeAll();
  }

  /** Publishes the roots. Returns a function that removes the roots of the targets to be lost. */
  #publish(): () => void {
    const leaving: (() => void)[] = [];
    const seen = this.configured.filter(({ standing }) => standing !== 'without a segment');
    for (const key of new Set(seen.map(({ target: { serverKey } }) => serverKey))) {
      const publisher = this.#publishers.make(key);
      for (const { target: each, standing } of seen.filter((one) => one.target.serverKey === key)) {
        const root = publisher.addRoot(each.root, 'Root');
        const load = publisher.addVariable(root, 'load', 'u64');
        if (standing !== 'syncing') load.set(each.value);
        if (standing === 'lost') leaving.push(() => publisher.removeObject(root));
      }
      publisher.place();
    }
    return () => leaving.forEach((leave) => leave());
  }

  async #reached(which: (standing: Standing) => boolean, isReady: boolean): Promise<void> {
    const { targets } = this.#live;
    await eventually('the targets are ready or lost', () =>
      this.configured.every(
        ({ standing }, index) => !which(standing) || targets[index]?.status().isReady === isReady,
      ),
    );
    await eventually('the roots of syncing targets are selected', () =>
      this.configured.every(
        ({ standing, target: { root } }, index) =>
          standing !== 'syncing' || targets[index]?.status().root === root,
      ),
    );
  }
}
