// A component's answers without faults.
import type { IncomingMessage } from 'node:http';
import { NO_CONTENT, acceptsDeflate, compressed, plainAnswer } from './answer.js';
import type { Answer } from './answer.js';
import type { ComponentOptions } from './component-options.js';
import { viewAt } from './component-view.js';
import { OddWays } from './oddities.js';
import type { ServedTree } from './served-tree.js';
import { vendorObject } from './vendor-tree.js';
import type { VendorObject } from './vendor-tree.js';

/** The parts of a request that an answer depends on. */
export type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export class Component {
  tree: ServedTree;
  readonly options: Required<ComponentOptions>;
  readonly #ways: OddWays;

  constructor(tree: ServedTree, options: Required<ComponentOptions>) {
    this.tree = tree;
    this.options = options;
    this.#ways = new OddWays(options.oddities);
  }

  /** The roots as they are now, without oddities. */
  roots(): readonly VendorObject[] {
    return Array.from(this.tree.roots, vendorObject);
  }

  /** Objects of the tree as JSON, with oddities. */
  text(objects: readonly VendorObject[]): string {
    return this.#ways.text(this.#ways.tree(objects));
  }

  async answer(asked: Asked, roots = this.roots()): Promise<Answer> {
    const { securityKey, refusalStatus, compression } = this.options;
    if (securityKey !== undefined && asked.headers['security-key'] !== securityKey)
      return plainAnswer(refusalStatus, 'Security-Key is missing or wrong\n');
    if (asked.method !== 'GET')
      return plainAnswer(405, 'Only GET is known\n', {
        'Content-Type': 'text/plain',
        Allow: 'GET',
      });
    const answer = this.#show(asked.url ?? '', roots);
    const isAsked = acceptsDeflate(asked.headers['accept-encoding']);
    return isAsked && answer.status === 200 ? compressed(answer, compression) : answer;
  }

  #show(url: string, roots: readonly VendorObject[]): Answer {
    const { base, contentType } = this.options;
    const [path = ''] = url.split('?');
    const view = path.startsWith(base)
      ? viewAt(path.slice(base.length), this.#ways.tree(roots))
      : undefined;
    if (view === undefined) return plainAnswer(404, 'There is nothing here\n');
    if (view.content === undefined) return NO_CONTENT;
    return plainAnswer(200, this.#ways.text(view.content), { 'Content-Type': contentType });
  }
}
