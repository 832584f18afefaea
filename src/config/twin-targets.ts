// Targets that no request can tell apart: routing knows server_key, app and the chosen root (spec 4.3).
import type { TargetTable } from './file-rule.js';

/** The index of a target, the index of an earlier one that may show the same root, and why. */
export interface Twin {
  readonly index: number;
  readonly earlier: number;
  readonly sentence: string;
}

/** The targets that share server key and application with an earlier one, and may share its root. */
export function twinTargets(targets: readonly TargetTable[]): readonly Twin[] {
  return targets.flatMap((target, index) => {
    const peers = [...targets.slice(0, index).entries()].filter(
      ([, { app, serverKey }]) => app === target.app && serverKey === target.serverKey,
    );
    const same = peers.find(([, { instance }]) => instance === target.instance);
    if (same !== undefined)
      return [{ index, earlier: same[0], sentence: 'no request can tell them apart' }];
    const near = peers.find(([, { instance }]) => mayShareRoot(instance, target.instance));
    if (near === undefined) return [];
    const sentence =
      'they may choose the same root, and then no request can tell them apart; give each an instance of its own';
    return [{ index, earlier: near[0], sentence }];
  });
}

/**
 * Without a hint any root may be chosen; a full root id contains the instance that the other may
 * name.
 */
const mayShareRoot = (one: string, other: string): boolean =>
  one === '' || other === '' || instanceOf(one) === other || instanceOf(other) === one;

const instanceOf = (rootId: string): string | undefined => rootId.split('.').at(-2);
