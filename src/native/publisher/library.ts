// The publisher library of the npm package.
export { Publisher } from './publisher.js';
export * from './publish-registry.js';
