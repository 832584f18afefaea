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
