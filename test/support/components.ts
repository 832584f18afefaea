// Components that serve a scenario's tree on ports of their own.
import { ComponentServer } from '#app/simulator/component/component-server.js';
import type { ComponentOptions } from '#app/simulator/component/component.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import { parseScenario } from '#app/simulator/scenario.js';
import { stageOf } from '#app/simulator/simulation.js';
import { ODD_SCENARIO } from './odd-scenario.js';

/** A tree with the objects of a scenario as a file has it. */
export function treeOf(scenario: object): ServedTree {
  const tree = new ServedTree();
  stageOf(tree, parseScenario(JSON.stringify(scenario), 'scenario'));
  return tree;
}

/** Call inside `describe`: makes the function that serves; what it served ends after each test. */
export function freshComponents() {
  const servers: ComponentServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  return async (
    options: ComponentOptions = {},
    tree: ServedTree = treeOf(ODD_SCENARIO),
  ): Promise<ComponentServer> => {
    const server = new ComponentServer(tree, options);
    servers.push(server);
    await server.listen(0);
    return server;
  };
}
