// The settings of a target whose format is multiprocess.
import type { Path } from '../document/document.js';
import { flag, list, oneOf, rule, text } from '../rules/rule.js';
import type { ReportProblem } from '../rules/rule.js';
import { optional, reportMissing } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

const PATH = /^(?=.{2,1024}$)(?!.*\*.*\*)(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}/]+)+$/u;
const directory = rule(
  'string',
  'an absolute path without "." or ".." as a part, with "*" at most once',
  (raw) => (typeof raw === 'string' ? pathIn(raw) : undefined),
);

/** The path without slashes at its end; undefined if it is not allowed. */
function pathIn(text: string): string | undefined {
  const path = text.replace(/\/+$/, '');
  return PATH.test(path) ? path : undefined;
}

/** The path of one directory, without slashes at its end; undefined if the text is no such path. */
export const directoryIn = (text: string): string | undefined =>
  text.includes('*') ? undefined : pathIn(text);

const directoryList = list(directory, { max: 64, different: { by: String } });

const LABEL =
  'a label name of letters, digits and "_", not "pid", "le", "quantile", "job", "instance" or with "__" at its start';
const labelName = text(
  /^(?!(?:pid|le|quantile|job|instance)$|__)(?:[A-Za-z_][A-Za-z0-9_]{0,63})?$/,
  `${LABEL}, or ""`,
);

export const MULTIPROCESS_SETTINGS = {
  directories: optional(
    [],
    directoryList,
    'Directories of the metric files of applications, as in PROMETHEUS_MULTIPROC_DIR; one part of a path may contain *. Required without discover',
  ),
  discover: optional(
    'none',
    oneOf('none', 'environment'),
    'environment also shows the directories that processes of the host and of containers name in PROMETHEUS_MULTIPROC_DIR. The exporter needs permission to read their environments',
  ),
  label: optional(
    '',
    labelName,
    'The label that names the directory in its series, by the text that * stands for, or by its path. Required with *, discover or several directories',
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

/** Reports a missing label, or that no directory is named. */
export function checkMultiprocess(
  { directories, discover, label }: MultiprocessSettings,
  path: Path,
  report: ReportProblem,
): void {
  if (discover === 'none' && directories.length === 0) {
    const needed = `found no directory, needed: ${directoryList.allowed}, or discover`;
    report([...path, 'directories'], needed, 'key');
    return;
  }
  if (label !== '') return;
  const needed = `${LABEL}, so that the series of different directories differ`;
  if (discover !== 'none') reportMissing([...path, 'label'], `with discover ${needed}`, report);
  else if (directories.some((each) => each.includes('*')))
    reportMissing([...path, 'label'], `with "*" ${needed}`, report);
  else if (directories.length > 1)
    reportMissing([...path, 'label'], `with several directories ${needed}`, report);
}
