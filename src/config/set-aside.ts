// What happens to [[targets]] when options select a single target (spec 1.6).
import type { Arguments } from './arguments.js';
import type { TargetTable } from './file-rule.js';
import type { Settings } from './settings.js';

/** The options that select a single target, as they were given; empty when none was. */
export function selectorOf({ serverKeys, instance }: Arguments['overrides']): string {
  const given = [serverKeys && '--server-key', instance !== undefined && '--instance'];
  return given.filter(Boolean).join(' and ');
}

/** That the targets do not count, and where the application of the single target is from. */
export function setAside(
  overrides: Arguments['overrides'],
  isInFile: boolean,
  { app }: Settings,
): string {
  const inFile = isInFile ? 'the top-level app' : 'the default';
  const origin = overrides.app === undefined ? inFile : '--app';
  return `[[targets]] are ignored because of ${selectorOf(overrides)}; the single target has the application ${app} (${origin})`;
}

/**
 * Targets that the options seem to mean but for their application, by index: of each application
 * the first. None when a target that the options mean is of the application taken.
 */
export function otherApplications(
  { serverKeys, instance }: Arguments['overrides'],
  targets: readonly TargetTable[],
  { app }: Settings,
): ReadonlyMap<number, string> {
  const meant = [...targets.entries()].filter(
    ([, target]) =>
      (serverKeys === undefined || serverKeys.includes(target.serverKey)) &&
      (instance === undefined || target.instance === instance),
  );
  if (meant.some(([, target]) => target.app === app)) return new Map();
  const isFirst = (index: number, other: string) =>
    meant.find(([, target]) => target.app === other)?.[0] === index;
  return new Map(
    meant.flatMap(([index, target]) => (isFirst(index, target.app) ? [[index, target.app]] : [])),
  );
}
