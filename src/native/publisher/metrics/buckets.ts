// Bounds for the buckets of histograms.
import { checkValue } from '../../../rules/options.js';
import { LIMITS } from '../../segment/layout.js';
import { integer, number } from '../../../rules/rule.js';

const count = integer(1, LIMITS.schemaEntries);

/** Returns `length` bounds, each `width` above the one before. @throws RangeError for other than numbers, or a width or length that is not positive */
export function linearBuckets(start: number, width: number, length: number): number[] {
  checkValue('linearBuckets: start', start, number());
  checkValue(
    'linearBuckets: width',
    width,
    number('a number above 0', (value) => value > 0),
  );
  checkValue('linearBuckets: count', length, count);
  return Array.from({ length }, (_, index) => start + index * width);
}

/** Returns `length` bounds, each `factor` times the one before. @throws RangeError for a start that is not positive, or a factor not above 1 */
export function exponentialBuckets(start: number, factor: number, length: number): number[] {
  checkValue(
    'exponentialBuckets: start',
    start,
    number('a number above 0', (value) => value > 0),
  );
  checkValue(
    'exponentialBuckets: factor',
    factor,
    number('a number above 1', (value) => value > 1),
  );
  checkValue('exponentialBuckets: count', length, count);
  const bounds: number[] = [];
  for (let bound = start; bounds.length < length; bound *= factor) bounds.push(bound);
  return bounds;
}
