// The processes of the demo: three simulated servers, and then the exporter that serves them.
import { issueLicense } from '../license/issue-license.js';
import type { Belongings } from './belongings.js';
import type { Children, Ended } from './children.js';
import { TARGETS, configuration } from './configuration.js';
import type { DemoOptions } from './options.js';

const DAY_MS = 86_400_000;
export const EXPORTER = 'the exporter';
/** Lively enough for two scrapes to differ. */
const LIFE = ['--objects', '200', '--rate', '2', '--change-fraction', '0.5'];

export interface CastParts {
  readonly options: DemoOptions;
  readonly children: Children;
  readonly belongings: Belongings;
  readonly unixMs: () => number;
  /** What a process says that is worth reading. */
  readonly log: (line: string) => void;
  /** Called once, when the exporter serves all targets. */
  readonly onReady: () => void;
  /** Called when a process ends, by itself or by us. */
  readonly onEnd: (name: string, ended: Ended) => void;
}

/** Starts the simulated servers at once; the exporter follows when all of them are there. */
export function startCast(parts: CastParts): void {
  const { children, belongings, log, onEnd } = parts;
  let missing: number = TARGETS.length;
  for (const { app, serverKey, root } of TARGETS)
    children.start({
      program: 'simulator/cli.js',
      args: [
        ...['--app', app, '--server-key', serverKey, '--root', root],
        ...['--context-id', belongings.contextId, ...LIFE],
      ],
      onLine: (line) => {
        if (line !== 'ready') log(line);
        else if (--missing === 0) startExporter(parts);
      },
      onEnd: (ended) => {
        onEnd(`the simulated ${app}`, ended);
      },
    });
}

function startExporter({ children, onEnd, ...parts }: CastParts): void {
  const waiting = new Set<string>(TARGETS.map(({ serverKey }) => serverKey));
  children.start({
    program: 'cli.js',
    args: ['--config', writeConfiguration(parts)],
    onLine: (line) => {
      const [, key = ''] = / info target \S+ on (\S+) ready: /.exec(line) ?? [];
      if (waiting.delete(key) && waiting.size === 0) parts.onReady();
      if (!/^\S+ info /.test(line)) parts.log(line);
    },
    onEnd: (ended) => {
      onEnd(EXPORTER, ended);
    },
  });
}

/** Writes the license and the configuration; returns the path of the latter. */
function writeConfiguration({
  options,
  belongings,
  unixMs,
}: Pick<CastParts, 'options' | 'belongings' | 'unixMs'>): string {
  const now = unixMs();
  const license = issueLicense({
    licensee: 'demo',
    // A little before now, so that a clock that is set back does no harm.
    issuedAt: new Date(now - 60_000),
    expiresAt: new Date(now + DAY_MS),
  });
  const { contextId } = belongings;
  const licenseFile = belongings.write('license.json', license);
  return belongings.write('demo.toml', configuration({ contextId, licenseFile, ...options }));
}
