// What happens to [[targets]] when options select a single target (spec 1.6).
import type { Arguments } from './arguments.js';
import type { TargetTable } from './file-rule.js';
import { settingName } from './setting-name.js';
import type { Settings } from './settings.js';

/** The options that select a single target, as they were given; empty when none was. */
export function selectorOf({ serverKeys, instance }: Arguments['overrides']): string {
  const given = [
    serverKeys && settingName(['server_keys'], true),
    instance !== undefined && settingName(['instance'], true),
  ];
  return given.filter(Boolean).join(' and ');
}

/** Says that the targets are ignored, and where the application of the single target comes from. */
export function setAside(
  overrides: Arguments['overrides'],
  isInFile: boolean,
  { app }: Settings,
): string {
  const isGiven = overrides.app !== undefined;
  const origin = `${isGiven || isInFile ? '' : 'the default of '}${settingName(['app'], isGiven)}`;
  return `[[targets]] are ignored because of ${selectorOf(overrides)}; the single target has the application ${app}, from ${origin}`;
}

/**
 * The indexes of targets that match the options except for their application, the first of each
 * application. Empty if a target matches the application as well.
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
