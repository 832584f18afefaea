// The publisher library of the npm package.
export { Publisher } from './publisher.js';
export type {
  ObjectOptions,
  PublishedObject,
  PublisherOptions,
  RootOptions,
  VariableOptions,
} from './publisher-options.js';
export * from './publish-registry.js';
export { Counter } from './metrics/counter.js';
export { Gauge } from './metrics/gauge.js';
export { Histogram } from './metrics/histogram.js';
export { Summary } from './metrics/summary.js';
export { Info } from './metrics/info.js';
export { Registry, register } from './metrics/registry.js';
export { exponentialBuckets, linearBuckets } from './metrics/buckets.js';
export { publish } from './metrics/publish.js';
export { publishFromEnvironment } from './metrics/environment.js';
export type * from './metrics/types.js';
