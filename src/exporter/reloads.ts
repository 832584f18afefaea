// Reloads the configuration on request. An invalid configuration changes nothing.
import { Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Arguments } from '../config/arguments.js';
import { changedSettings } from '../config/changed-settings.js';
import type { Settings } from '../config/settings.js';
import { withoutExcerpts } from '../document/document.js';
import { Fault, isSystemError, messageOf } from '../errors.js';
import type { TargetEvent } from '../model.js';
import type { ReloadAnswer } from '../sinks/http/own-pages.js';
import type { ServiceManager } from '../systemd/service-manager.js';
import { checkReload, warningsOf } from './check-start.js';
import type { Planned } from './plan.js';

/** The result of a reload: the new configuration, or a refusal. */
export type Reload =
  { readonly kind: 'accepted'; readonly planned: Planned } | { readonly kind: 'refused' };

export class Reloads {
  readonly #given: Arguments;
  readonly #started: Settings;
  readonly #log: (event: TargetEvent) => void;
  readonly #manager: Pick<ServiceManager, 'reloading'>;
  readonly #reload$ = new Subject<Reload>();

  /** @param started the settings at the start of the process; some of them apply until a restart */
  constructor(
    given: Arguments,
    started: Settings,
    log: (event: TargetEvent) => void,
    manager: Pick<ServiceManager, 'reloading'>,
  ) {
    this.#given = given;
    this.#started = started;
    this.#log = log;
    this.#manager = manager;
  }

  get reload$(): Observable<Reload> {
    return this.#reload$;
  }

  /** Reloads the configuration. Returns the reasons for a refusal, or the settings that need a restart. */
  run(): ReloadAnswer {
    return this.#manager.reloading(() => this.#run());
  }

  #run(): ReloadAnswer {
    const warn = (message: string): void => {
      this.#log({ level: 'warning', message });
    };
    try {
      const planned = checkReload(this.#given, this.#started, new Date());
      const changed = changedSettings(this.#started, planned.config.settings);
      const needRestart = changed.map(
        (key) => `${key} changed: the change takes effect at the next start`,
      );
      [...warningsOf(planned), ...needRestart].forEach(warn);
      this.#reload$.next({ kind: 'accepted', planned });
      return { kind: 'accepted', needRestart };
    } catch (error) {
      if (!(error instanceof Fault) && !isSystemError(error)) throw error;
      const message = messageOf(error);
      warn('configuration not reloaded; the previous one stays in use:');
      withoutExcerpts(message).forEach(warn);
      this.#reload$.next({ kind: 'refused' });
      return { kind: 'refused', reasons: message.split('\n') };
    }
  }
}
