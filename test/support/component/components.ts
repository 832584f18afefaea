// Components that serve the tree of a scenario on free ports.
import type { IncomingMessage } from 'node:http';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import { parseScenario } from '#app/simulator/scenario.js';
import { stageOf } from '#app/simulator/simulation.js';
import { ODD_SCENARIO } from '../odd-scenario.js';
import type { TestComponentOptions } from './component.js';
import { TestComponent } from './test-component.js';

/** Builds a tree from a scenario, which has the format of a scenario file. */
export function treeOf(scenario: object): ServedTree {
  const tree = new ServedTree();
  stageOf(tree, parseScenario(JSON.stringify(scenario), 'scenario'));
  return tree;
}

/** A component that records all requests. */
export class RecordingComponent extends TestComponent {
  readonly requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[];

  constructor(tree: ServedTree, options: TestComponentOptions = {}) {
    const requests: IncomingMessage[] = [];
    super(tree, { ...options, onRequest: (request) => requests.push(request) });
    this.requests = requests;
  }

  /** The number of requests that followed the redirection of the fault `redirect`. */
  get followed(): number {
    return this.requests.filter(({ url }) => url?.startsWith('/moved') === true).length;
  }
}

/** Call inside `describe`: returns a function that serves a tree until the end of the test. */
export function freshComponents() {
  const servers: RecordingComponent[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  return async (
    options: TestComponentOptions = {},
    tree: ServedTree = treeOf(ODD_SCENARIO),
  ): Promise<RecordingComponent> => {
    const server = new RecordingComponent(tree, options);
    servers.push(server);
    await server.listen(0);
    return server;
  };
}
