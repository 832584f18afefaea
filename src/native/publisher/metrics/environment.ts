// Publishes the default registry if the environment names a server key.
import cluster from 'node:cluster';
import { isMainThread } from 'node:worker_threads';
import { messageOf } from '../../../errors.js';
import { warnOnStderr } from '../publisher.js';
import { application } from '../../../rules/formats.js';
import { publish } from './publish.js';
import type { PublishOptions } from './publish.js';

interface Environment {
  readonly PROMETHEUS_SHM_SERVER_KEY?: string;
  readonly PROMETHEUS_SHM_APP?: string;
}

/**
 * Publishes the registry `register` if PROMETHEUS_SHM_SERVER_KEY is set. Each process of a cluster, and each worker
 * thread, has a server key of its own: `-{pid}` is added to the stated key, unless that has `{pid}` already. A wrong
 * value does not end the program: one line on stderr names it.
 */
export function publishFromEnvironment(environment: Environment): void {
  const options = optionsFrom(environment, cluster.isWorker || !isMainThread);
  if (options === undefined) return;
  try {
    if (options.app === '') throw new RangeError(NO_APP);
    publish(options);
  } catch (error) {
    const names = 'PROMETHEUS_SHM_SERVER_KEY and PROMETHEUS_SHM_APP';
    warnOnStderr(`${names}: the metrics are not published: ${messageOf(error)}`);
  }
}

const NO_APP = `PROMETHEUS_SHM_APP: found nothing, and the server key has no name beside {pid}, allowed: ${application.allowed}`;

/** The options of `publish`; undefined if the environment names no server key. An empty variable counts as unset. */
export function optionsFrom(
  { PROMETHEUS_SHM_SERVER_KEY: key = '', PROMETHEUS_SHM_APP: app = '' }: Environment,
  isWorker: boolean,
): PublishOptions | undefined {
  if (key === '') return undefined;
  const serverKey = isWorker && !key.includes('{pid}') ? `${key}-{pid}` : key;
  return { serverKey, app: app === '' ? appOf(key) : app };
}

/** Makes the name of the application from a server key, which may have other characters and begin with a digit. */
const appOf = (key: string): string =>
  key
    .replace(/[-_.]?\{pid\}/g, '')
    .replace(/[-.]/g, '_')
    .replace(/^(?=[^A-Za-z])/, 'app_')
    .slice(0, 64);
