// Reads the values of a folded tree.
import { expect } from 'chai';
import type { ManagedObject, Source, Variable } from '#app/model.js';
import type { PollResult } from '#app/streams/poller.js';
import { objectsBelow } from '../support/polled-values.js';

/**
 * The values by path and name; a frame as a plain object.
 * @param names the names of the variables to read; by default all
 */
export function valuesOf(
  { source }: Pick<PollResult, 'source'>,
  names?: readonly string[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  if (source === undefined) return values;
  for (const step of source.computingValues?.() ?? []) expect(step).to.equal(undefined);
  for (const root of source.roots)
    for (const object of objectsBelow(root))
      for (const variable of object.variables)
        if (names?.includes(variable.name) !== false)
          values[keyOf(root, object, variable)] = valueOf(source, variable);
  return values;
}

function keyOf(root: ManagedObject, object: ManagedObject, { name }: Variable): string {
  const path = object.name.slice(root.name.length + 1);
  const labels = Object.keys(object.labels ?? {}).length === 0 ? '' : JSON.stringify(object.labels);
  return [path, name, labels].filter((part) => part !== '').join(' ');
}

function valueOf(source: Source, variable: Variable): unknown {
  const { slot, incarnation, type } = variable;
  const [bits, word] = [Buffer.alloc(8), Buffer.alloc(4)];
  source.readSlots(slot, 1, bits);
  source.readWords(slot, 1, word);
  if (word.readUInt32LE(0) !== ((incarnation << 1) | 1) >>> 0) return undefined;
  if (type === 'f64') return bits.readDoubleLE(0);
  if (type === 'i64') return bits.readBigInt64LE(0);
  if (type === 'u64' || type === 'bool') return bits.readBigUInt64LE(0);
  const frame = source.readFrame(variable);
  if (frame === undefined) return undefined;
  if (frame.type === 'histogram') return { ...frame, counts: [...frame.counts] };
  return frame.type === 'summary' ? { ...frame, values: [...frame.values] } : frame;
}
