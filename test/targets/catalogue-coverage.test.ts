// The metrics of a target whose catalogue does not fit its publisher.
import { expect } from 'chai';
import { observing } from '../support/observing-catalogue.js';
import { freshServed } from '../support/served.js';

const NAMES = ['catalogue_rows_unmatched', 'catalogue_rows_mistyped', 'variables_without_row'];

describe('a target whose catalogue does not fit its tree', () => {
  const { publishers, serve } = freshServed();

  it('shows the numbers of mismatches in metrics, and updates the numbers when variables are added or removed', () => {
    const publisher = publishers.make('82');
    const root = publisher.addRoot('H.1.demo', 'Root');
    publisher.addVariable(root, 'lag', 'string').set('slow');
    publisher.addVariable(root, 'spare', 'u64').set(1);
    publisher.place();
    const target = serve({ catalogue: observing() });
    const counts = (): (number | undefined)[] => {
      target.ask();
      return NAMES.map((name) => target.internal(`shm_exporter_target_${name}`));
    };
    expect(counts()).to.deep.equal([1, 2, 1]);
    publisher.addVariable(root, 'x', 'u64').set(2);
    expect(counts()).to.deep.equal([0, 2, 1]);
    publisher.addVariable(root, 'lag', 'u64').set(3);
    expect(counts()).to.deep.equal([0, 0, 1]);
    publisher.close();
    target.clock.advance(60_000);
    expect(counts()).to.deep.equal([undefined, undefined, undefined]);
  });
});
