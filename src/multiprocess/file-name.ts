// The names of the files in a multiprocess directory: the type of their metrics, and the identifier of their process.

/** How the library merges the gauges of several processes. */
export const GAUGE_MODES = [
  'all',
  'liveall',
  'min',
  'livemin',
  'max',
  'livemax',
  'sum',
  'livesum',
  'mostrecent',
  'livemostrecent',
] as const;
export type GaugeMode = (typeof GAUGE_MODES)[number];

/** The metrics of a file: those of one type or, for gauges, of one mode. */
export type FileKind = 'counter' | 'histogram' | 'summary' | `gauge_${GaugeMode}`;

const MODES: ReadonlySet<string> = new Set(GAUGE_MODES);

export interface FileName {
  readonly kind: FileKind;
  /** The text that identifies the process, as in the name. In the Ruby dialect, `-` and a number follow it. */
  readonly id: string;
}

/** Separates the kind and the identifier, which may itself contain underscores. */
const NAME = /^(?:(counter|histogram|summary)|gauge_([a-z]+))_(.+)\.db$/su;

/**
 * Parses the name of a file. Returns undefined if the name does not end in `.db`, and a text with the fault of any other
 * name that no library gives.
 */
export function parseFileName(name: string): FileName | string | undefined {
  if (!name.endsWith('.db')) return undefined;
  const [, type, mode = '', id = ''] = NAME.exec(name) ?? [];
  if (id === '')
    return 'is no file of a metrics library, whose names are counter_ID.db, histogram_ID.db, summary_ID.db and gauge_MODE_ID.db';
  if (type === 'counter' || type === 'histogram' || type === 'summary') return { kind: type, id };
  if (!isMode(mode)) return `has the gauge mode ${mode}, allowed: ${GAUGE_MODES.join(', ')}`;
  return { kind: `gauge_${mode}`, id };
}

const isMode = (text: string): text is GaugeMode => MODES.has(text);

/**
 * The identifier of a process in the Ruby dialect. The library adds `-0` to it, or a greater number if another process
 * has locked the file with this name.
 */
export const rubyIdOf = (id: string): string => id.replace(/-\d+$/, '');
