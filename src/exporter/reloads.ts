// Reads the configuration again when somebody asks; what is invalid changes nothing.
import { Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Arguments } from '../config/arguments.js';
import { Fault, messageOf } from '../errors.js';
import type { TargetEvent } from '../model.js';
import type { ServiceManager } from '../systemd/service-manager.js';
import { checkReload, warningsOf } from './check-start.js';
import type { Planned } from './plan.js';

/** A configuration to go on with, or none. */
export type Reload =
  { readonly kind: 'accepted'; readonly planned: Planned } | { readonly kind: 'refused' };

export class Reloads {
  readonly #given: Arguments;
  readonly #log: (event: TargetEvent) => void;
  readonly #manager: Pick<ServiceManager, 'reloading'>;
  readonly #reload$ = new Subject<Reload>();

  constructor(
    given: Arguments,
    log: (event: TargetEvent) => void,
    manager: Pick<ServiceManager, 'reloading'>,
  ) {
    this.#given = given;
    this.#log = log;
    this.#manager = manager;
  }

  get reload$(): Observable<Reload> {
    return this.#reload$;
  }

  /** Returns every reason why the configuration was refused; none when it is in use. */
  run(): readonly string[] {
    return this.#manager.reloading(() => this.#run());
  }

  #run(): readonly string[] {
    const warn = (message: string): void => {
      this.#log({ level: 'warning', message });
    };
    try {
      const planned = checkReload(this.#given);
      warningsOf(planned).forEach(warn);
      this.#reload$.next({ kind: 'accepted', planned });
      return [];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const reasons = messageOf(error).split('\n');
      warn('configuration not reloaded, the present one stays in use:');
      reasons.forEach(warn);
      this.#reload$.next({ kind: 'refused' });
      return reasons;
    }
  }
}
