// Tests what a target reports about its root.
import { expect } from 'chai';
import { map } from 'rxjs';
import type { TargetState } from '#app/streams/report.js';
import { definitionOf } from '../../support/definition-of.js';
import { follow } from '../../support/follow.js';
import { freshServed } from '../../support/served.js';

const worded = ({ root, isRootLost }: TargetState): string =>
  root ?? (isRootLost ? 'lost' : 'none');

describe('the root in the state of a target', () => {
  const { publishers, serve } = freshServed();

  it('names each root that the target takes, even a root that replaces another between two polls', () => {
    const served = serve();
    const { report$ } = served.partition(1).host(definitionOf());
    const roots: string[] = [];
    const { subscription } = follow(
      report$.pipe(
        map((report) => {
          const root = 'state' in report ? worded(report.state) : roots.at(-1);
          if (root !== undefined && root !== roots.at(-1)) roots.push(root);
        }),
      ),
    );
    served.clock.advance(2000);
    const publisher = publishers.make('82');
    const first = publisher.addRoot('H.1.demo', 'Root');
    publisher.place();
    served.clock.advance(2000);
    publisher.removeObject(first);
    publisher.addRoot('H.2.demo', 'Root');
    served.clock.advance(2000);
    publisher.close();
    served.clock.advance(2000);
    publishers.withRoot('82', 'H.3.demo');
    served.clock.advance(2000);
    expect(roots).to.deep.equal(['none', 'H.1.demo', 'H.2.demo', 'lost', 'H.3.demo']);
    subscription.unsubscribe();
  });
});
