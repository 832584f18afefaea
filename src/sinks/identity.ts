// The labels that tell targets apart, for metrics about all of them and for service discovery.
import type { Target } from '../model.js';
import { serverKeyOf } from './routing-parameters.js';

export type Labels = Readonly<Record<string, string>>;

/** Every label that an identity may have. */
export const IDENTITY = ['app', 'server_key', 'hint', 'twin'] as const;

/**
 * The identity of each target, no two alike. It comes from the configuration and not from
 * the root, so that series go on when a root is lost. Targets that are configured alike are numbered
 * by `twin`, from the second on.
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
