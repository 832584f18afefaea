import { expect } from 'chai';
import { Random, RandomWalk } from '#app/simulator/course.js';

describe('Wandering', () => {
  for (const [most, grain] of [
    [1, 1],
    [40, 1],
    [1, 0.001],
    [50_000_000, 1],
  ] as const)
    it(`moves a little at every move, from 0 to ${most} in steps of ${grain}`, () => {
      const level = new RandomWalk(most, grain, new Random(5));
      const stride = Math.max(grain, most / 20) * 1.000001;
      let least: number = most;
      let highest = 0;
      for (let move = 0; move < 5000; move++) {
        const before = level.value;
        level.move();
        expect(level.value).to.be.within(0, most);
        expect(Math.abs(level.value - before)).to.be.within(grain * 0.999, stride);
        least = Math.min(least, level.value);
        highest = Math.max(highest, level.value);
      }
      expect(least).to.be.below(most / 4);
      expect(highest).to.be.above((most * 3) / 4);
    });
});
