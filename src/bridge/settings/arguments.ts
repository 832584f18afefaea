// Reads the command line of the bridge into a value; prints nothing and ends nothing.
import { Command } from 'commander';
import { quoted } from '../../document/key-path.js';
import { Fault } from '../../errors.js';
import { readCommandLine } from '../../rules/command-line.js';

/** What the user asks for. */
export type Invocation =
  | {
      readonly kind: 'run' | 'check' | 'once';
      readonly file: string;
      /** The name of the only component that is wanted. */
      readonly component: string | undefined;
      readonly isDebug: boolean;
    }
  | { readonly kind: 'print'; readonly text: string };

/** Every option but --version and --help. */
export const OPTIONS: readonly (readonly [flags: string, meaning: string])[] = [
  ['--config <path>', 'TOML file with the components; needed'],
  ['--check-config', 'Check the configuration and exit'],
  ['--once', 'Poll each component once, print what would be published, and exit'],
  ['--component <name>', 'Leave all components but this one alone'],
  ['--debug', 'Log every poll even when debug is false in TOML'],
];

const HELP_START = `Polls the JSON view of ADS and ADH components over HTTP and publishes their
managed objects in shared memory, where shm_exporter reads them.`;

const HELP_END = `
What --once prints is a scenario, one for each component that answers:
shm_simulator --scenario FILE publishes one.

Examples:
  Check a file and do nothing else:
    shm_bridge --config shm_bridge.toml --check-config
  See whether a component answers, and with what:
    shm_bridge --config shm_bridge.toml --once --component ads > tree.json
  Publish until a signal:
    shm_bridge --config shm_bridge.toml

Exit status:
  0  normal end
  1  unexpected failure, or a poll that failed with --once
  2  wrong usage or configuration
  4  shared memory cannot be used

In the folder of the package, docs/bridge.md is the way in, and
docs/bridge-configuration.md has every key.`;

/** @throws Fault USAGE for unknown options, missing arguments and options at odds */
export function parseArguments(argv: readonly string[], version: string): Invocation {
  const line = readCommandLine(programOf(), argv, { version, helpEnd: HELP_END });
  if (line.kind === 'text') return { kind: 'print', text: line.text };
  const { config, checkConfig, once, component, debug } = line.options;
  if (typeof config !== 'string' || config === '')
    throw new Fault('USAGE', '--config: found nothing, needed: the path of a TOML file');
  for (const [option, value] of Object.entries({ config, component }))
    if (typeof value === 'string' && value.startsWith('--'))
      throw new Fault('USAGE', `--${option}: found the option ${quoted(value)} for its argument`);
  if (checkConfig && once)
    throw new Fault('USAGE', '--check-config and --once cannot stand together');
  const kind = checkConfig ? 'check' : once ? 'once' : 'run';
  const only = component === undefined ? undefined : String(component);
  return { kind, file: config, component: only, isDebug: debug === true };
}

function programOf(): Command {
  const program = new Command('shm_bridge').description(HELP_START);
  for (const [flags, meaning] of OPTIONS) program.option(flags, meaning);
  return program;
}
