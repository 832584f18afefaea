// The settings of a target whose format is multiprocess.
import type { Path } from '../document/document.js';
import { flag, list, text } from '../rules/rule.js';
import type { ReportProblem } from '../rules/rule.js';
import { optional, reportMissing, required } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

const directory = text(
  /^(?=.{2,1024}$)(?!.*\*.*\*)(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}/]+)+$/u,
  'an absolute path without "." or ".." as a part, with "*" at most once',
);

const LABEL =
  'a label name of letters, digits and "_", not "pid", "le", "quantile", "job", "instance" or with "__" at its start';
const labelName = text(
  /^(?!(?:pid|le|quantile|job|instance)$|__)(?:[A-Za-z_][A-Za-z0-9_]{0,63})?$/,
  `${LABEL}, or ""`,
);

export const MULTIPROCESS_SETTINGS = {
  directories: required(
    list(directory, { min: 1, max: 64, different: { by: String } }),
    'Directories of the metric files of applications, as in PROMETHEUS_MULTIPROC_DIR; one part of a path may contain *',
  ),
  label: optional(
    '',
    labelName,
    'The label that names the directory in its series, by the text that * stands for, or by its path. Required with * or several directories',
  ),
  keepRemoved: optional(
    true,
    flag,
    'Whether counters, histograms and summaries of a removed file stay in the sums, so that no counter falls',
  ),
  processMetrics: optional(
    true,
    flag,
    'Whether to show memory, processor time, threads and descriptors of each process that the exporter can see, with the label pid',
  ),
};

export type MultiprocessSettings = ValuesOf<typeof MULTIPROCESS_SETTINGS>;

/** Reports a missing label. */
export function checkMultiprocess(
  { directories, label }: MultiprocessSettings,
  path: Path,
  report: ReportProblem,
): void {
  const isOne = directories.length === 1 && !directories.some((each) => each.includes('*'));
  if (!isOne && label === '')
    reportMissing([...path, 'label'], `with several directories ${LABEL}`, report);
}
