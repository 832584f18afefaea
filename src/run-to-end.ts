// Runs an iterator of steps to its end and returns its result.

export function runToEnd<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
