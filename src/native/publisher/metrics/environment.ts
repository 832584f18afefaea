// Publishes the default registry if the environment names a server key.
import cluster from 'node:cluster';
import { isMainThread, threadId } from 'node:worker_threads';
import { messageOf } from '../../../errors.js';
import { warnOnStderr } from '../publisher.js';
import { publish } from './publish.js';
import type { PublishOptions } from './publish.js';

interface Environment {
  readonly PROMETHEUS_SHM_SERVER_KEY?: string;
  readonly PROMETHEUS_SHM_APP?: string;
}

/**
 * Publishes the registry `register` if PROMETHEUS_SHM_SERVER_KEY is set. Each process of a cluster, and each worker
 * thread, has a server key of its own, which begins with the stated one. A wrong value is no reason to end a program:
 * one line on stderr names it.
 */
export function publishFromEnvironment(environment: Environment, pid: number): void {
  const options = optionsFrom(environment, pid);
  if (options === undefined) return;
  try {
    publish(options);
  } catch (error) {
    const names = 'PROMETHEUS_SHM_SERVER_KEY and PROMETHEUS_SHM_APP';
    warnOnStderr(`${names}: the metrics are not published: ${messageOf(error)}`);
  }
}

/** The options of `publish`; undefined if the environment names no server key. An empty variable counts as unset. */
export function optionsFrom(
  { PROMETHEUS_SHM_SERVER_KEY: key = '', PROMETHEUS_SHM_APP: app = '' }: Environment,
  pid: number,
): PublishOptions | undefined {
  if (key === '') return undefined;
  const serverKey = `${key}${workerSuffix(pid)}`;
  // A server key may have characters that the name of an application may not have.
  return { serverKey, app: app === '' ? key.replace(/[-.]/g, '_') : app };
}

function workerSuffix(pid: number): string {
  if (!isMainThread) return `-${pid}.${threadId}`;
  return cluster.isWorker ? `-${pid}` : '';
}
