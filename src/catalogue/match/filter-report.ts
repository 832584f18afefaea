// How problems of the filters and patterns of a target are reported.
import { keyPath } from '../../document/key-path.js';
import type { Path } from '../../document/key-path.js';
import { Fault } from '../../errors.js';

/** Called with one problem of the value at `path` inside the target, such as `['classes', 0]`. */
export type FilterReport = (path: Path, sentence: string) => void;

/** Throws the first problem. */
export const refuse: FilterReport = (path, sentence) => {
  throw new Fault('CONFIG_INVALID', `${keyPath(path)}: ${sentence}`);
};

/** The result of `compile`, alone in a list; a Fault is reported at `path` instead. */
export function attempt<T>(compile: () => T, path: Path, report: FilterReport): readonly T[] {
  try {
    return [compile()];
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    report(path, thrown.message);
    return [];
  }
}
