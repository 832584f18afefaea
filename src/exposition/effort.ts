// How much work a target has done with its tree, in steps: a budget of steps is spent on what was done.

/** One for all parts of a target, which add to it as they work: it is looked at for each item. */
export class Effort {
  steps = 0;
}
