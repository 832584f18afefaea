// Parses the command line of the bridge into a value; prints nothing and never exits.
import { readCommandLine } from '../../rules/command-line.js';
import type { BridgeConfig } from './configuration.js';
import { PROGRAM } from './options.js';

/** What the user asks for. */
export type Invocation =
  | {
      readonly kind: 'run' | 'check' | 'once';
      readonly file: string;
      /** The name of the only component to poll. */
      readonly component: string | undefined;
      /** What the options say of the log, in place of the file. */
      readonly log: Partial<Pick<BridgeConfig, 'logLevel' | 'logFormat'>>;
    }
  | { readonly kind: 'print'; readonly text: string };

/** @throws Fault USAGE for unknown or conflicting options, and for missing arguments */
export function parseArguments(argv: readonly string[], version: string): Invocation {
  const line = readCommandLine(PROGRAM, argv, version);
  if (line.kind === 'text') return { kind: 'print', text: line.text };
  const { config, checkConfig, once, component, debug, logFormat } = line.options;
  const logLevel = debug ? 'debug' : line.options.logLevel;
  const kind = checkConfig ? 'check' : once ? 'once' : 'run';
  const log = {
    ...(logLevel !== undefined && { logLevel }),
    ...(logFormat !== undefined && { logFormat }),
  };
  return { kind, file: config, component, log };
}
