// Publishes the first value of a variable, and returns the function that publishes the next ones.
import type { Course } from './course.js';
import type { ValueHandle, ValueHandles } from './object-publisher.js';
import type { Random } from './random.js';
import type { PlannedVariable } from './tree-plan.js';
import { Wandering } from './wandering.js';

/** Publishes the next value of a variable. */
export type Move = () => void;
type Scalar = ValueHandles['u64'];
type Histogram = ValueHandles['histogram'];
type Summary = ValueHandles['summary'];

/** One change in so many is a mishap. */
const FEW = 20;

/** Publishes the first value; undefined if the variable never changes. */
export function begin(
  handle: ValueHandle,
  { type, course }: PlannedVariable,
  random: Random,
): Move | undefined {
  switch (course.kind) {
    case 'fixed':
      if (type === 'string') (handle as ValueHandles['string']).set(course.text);
      return undefined;
    case 'constant':
      (handle as Scalar).set(course.value);
      return undefined;
    case 'distribution':
      return type === 'histogram'
        ? observe(handle as Histogram, random)
        : summarize(handle as Summary, random);
    case 'level':
      return wander(handle as Scalar, course.most, type === 'f64' ? 0.001 : 1, random);
    default:
      return rise(handle as Scalar, course, random);
  }
}

type Rising = Extract<Course, { kind: 'total' | 'mishaps' }>;

function rise(scalar: Scalar, course: Rising, random: Random): Move {
  if (course.kind === 'mishaps') {
    scalar.set(random.below(FEW));
    return () => {
      if (random.below(FEW) === 0) scalar.add(1);
    };
  }
  const { step } = course;
  scalar.set(step * (1000 + random.below(1000)));
  return () => void scalar.add(1 + random.below(step));
}

function wander(scalar: Scalar, most: number, grain: number, random: Random): Move {
  const level = new Wandering(most, grain, random);
  scalar.set(level.value);
  return () => {
    level.move();
    scalar.set(level.value);
  };
}

function observe(histogram: Histogram, random: Random): Move {
  histogram.observe(random.next());
  return () => void histogram.observe(random.next() ** 4);
}

function summarize(summary: Summary, random: Random): Move {
  let count = 0;
  const move = () => {
    count += 1 + random.below(10);
    const sizes = [400, 900, 1400].map((size) => size + random.below(100));
    summary.set(count, count * 512, sizes);
  };
  move();
  return move;
}
