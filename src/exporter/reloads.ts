// Reloads the configuration on request. An invalid configuration changes nothing.
import { Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Arguments } from '../config/arguments.js';
import { changedSettings } from '../config/settings.js';
import type { Settings } from '../config/settings.js';
import { withoutExcerpts } from '../document/document.js';
import { Fault, isSystemError, messageOf } from '../errors.js';
import type { TargetEvent } from '../model.js';
import type { ReloadAnswer } from '../sinks/http/dispatch.js';
import type { ServiceManager } from '../systemd/service-manager.js';
import { checkReload, leftOutLines, warningsOf } from './check-start.js';
import type { Planned } from './plan.js';

export type Reload =
  { readonly kind: 'accepted'; readonly planned: Planned } | { readonly kind: 'refused' };

/**
 * Makes a function that reloads the configuration. It returns the reasons for a refusal, or the settings that need a
 * restart. `reload$` emits each result.
 * @param started the settings at the start of the process; some of them apply until a restart
 */
export function reloads(
  given: Arguments,
  started: Settings,
  log: (event: TargetEvent) => void,
  manager: Pick<ServiceManager, 'reloading'>,
): { readonly reload: () => ReloadAnswer; readonly reload$: Observable<Reload> } {
  const reload$ = new Subject<Reload>();
  const warn = (message: string): void => {
    log({ level: 'warning', message });
  };
  const reload = (): ReloadAnswer => {
    try {
      const planned = checkReload(given, started, new Date());
      const changed = changedSettings(started, planned.config.settings);
      const needRestart = changed.map(
        (key) => `${key} changed: the change takes effect at the next start`,
      );
      const leftOut = leftOutLines(planned);
      [...warningsOf(planned), ...leftOut, ...needRestart].forEach(warn);
      reload$.next({ kind: 'accepted', planned });
      return { kind: 'accepted', notApplied: [...leftOut, ...needRestart] };
    } catch (error) {
      if (!(error instanceof Fault) && !isSystemError(error)) throw error;
      const message = messageOf(error);
      warn('configuration not reloaded; the previous one stays in use:');
      withoutExcerpts(message).forEach(warn);
      reload$.next({ kind: 'refused' });
      return { kind: 'refused', reasons: message.split('\n') };
    }
  };
  return { reload: () => manager.reloading(reload), reload$ };
}
