// Parses the command line of the bridge into a value; prints nothing and never exits.
import { readCommandLine } from '../../rules/command-line.js';
import { PROGRAM } from './options.js';

/** What the user asks for. */
export type Invocation =
  | {
      readonly kind: 'run' | 'check' | 'once';
      readonly file: string;
      /** The name of the only component to poll. */
      readonly component: string | undefined;
      readonly isDebug: boolean;
    }
  | { readonly kind: 'print'; readonly text: string };

/** @throws Fault USAGE for unknown or conflicting options, and for missing arguments */
export function parseArguments(argv: readonly string[], version: string): Invocation {
  const line = readCommandLine(PROGRAM, argv, version);
  if (line.kind === 'text') return { kind: 'print', text: line.text };
  const { config, checkConfig, once, component, debug } = line.options;
  const kind = checkConfig ? 'check' : once ? 'once' : 'run';
  return { kind, file: config, component, isDebug: debug };
}
