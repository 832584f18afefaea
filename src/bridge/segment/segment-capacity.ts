// The size of a component's segment: room for what its limits allow, and for churn.
import { DEFAULT_CAPACITY } from '../../native/publisher/capacity.js';
import type { Capacity } from '../../native/publisher/capacity.js';
import type { TreeLimits } from '../tree/read-tree.js';

/** Of a file of up to 1 GiB; only the used part takes memory. */
const MAX_RECORDS = 1 << 22;
const TEXT_BYTES = 1 << 26;

/** Every object and variable has a slot and a record, a root one more slot. */
export function capacityFor({ maxObjects, maxVariables }: TreeLimits): Capacity {
  const nodes = 2 * maxObjects + maxVariables + 256;
  const twice = 2 ** Math.ceil(Math.log2(2 * nodes));
  return {
    records: Math.min(MAX_RECORDS, Math.max(DEFAULT_CAPACITY.records, twice)),
    slots: Math.min(MAX_RECORDS, Math.max(DEFAULT_CAPACITY.slots, twice)),
    stringBytes: TEXT_BYTES,
    frameBytes: TEXT_BYTES,
  };
}
