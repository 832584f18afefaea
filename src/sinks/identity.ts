// The labels that identify a target, in the self-metrics and in service discovery.
import type { Target } from '../model.js';
import { serverKeyOf } from './routing-parameters.js';

export type Labels = Readonly<Record<string, string>>;

/** All labels that an identity may have. */
export const IDENTITY = ['app', 'server_key', 'hint', 'twin'] as const;

/**
 * The identity of each target; all are different. It comes from the configuration and not from the
 * root, so series continue when a root is lost. Targets with the same configuration are numbered by
 * `twin`, from the second on.
 */
export function identitiesOf(targets: readonly Target[]): ReadonlyMap<Target, Labels> {
  const seen = new Map<string, number>();
  const identities = targets.map((target): [Target, Labels] => {
    const { app, instance } = target;
    const labels = { app, server_key: serverKeyOf(target), ...(instance && { hint: instance }) };
    const text = JSON.stringify(labels);
    const number = (seen.get(text) ?? 0) + 1;
    seen.set(text, number);
    return [target, number === 1 ? labels : { ...labels, twin: String(number) }];
  });
  return new Map(identities);
}
