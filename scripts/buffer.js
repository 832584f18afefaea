// Replaces the global `Buffer` in bundles.
export { Buffer } from 'node:buffer';
