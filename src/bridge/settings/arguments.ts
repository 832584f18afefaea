// Reads the command line of the bridge into a value; prints nothing and ends nothing.
import { Command, CommanderError } from 'commander';
import { quoted } from '../../document/key-path.js';
import { Fault } from '../../errors.js';
import { usageSentence } from '../../rules/usage.js';

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
  const printed: string[] = [];
  const program = programOf(version, (text) => printed.push(text));
  try {
    program.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return { kind: 'print', text: printed.join('') };
    const known = [...OPTIONS.map(([flags]) => flags), '--version', '--help'];
    throw new Fault('USAGE', usageSentence(thrown, known), { cause: thrown });
  }
  const [stray] = program.args;
  if (stray !== undefined)
    throw new Fault('USAGE', `found ${quoted(stray)}, allowed are only options; see --help`);
  const { config, checkConfig, once, component, debug } = program.opts<{
    config?: string;
    checkConfig?: true;
    once?: true;
    component?: string;
    debug?: true;
  }>();
  if (config === undefined || config === '')
    throw new Fault('USAGE', '--config: found nothing, needed is the path of a TOML file');
  for (const [option, value] of Object.entries({ config, component }))
    if (value?.startsWith('--'))
      throw new Fault('USAGE', `--${option}: found the option ${quoted(value)} for its argument`);
  if (checkConfig && once)
    throw new Fault('USAGE', '--check-config and --once cannot stand together');
  const kind = checkConfig ? 'check' : once ? 'once' : 'run';
  return { kind, file: config, component, isDebug: debug ?? false };
}

function programOf(version: string, print: (text: string) => void): Command {
  const program = new Command('shm_bridge')
    .description(HELP_START)
    .allowExcessArguments() // Refused here in a better sentence.
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: () => undefined, // The message is on the error as well.
      getOutHelpWidth: () => 80,
      getOutHasColors: () => false,
    });
  for (const [flags, meaning] of OPTIONS) program.option(flags, meaning);
  return program
    .version(version, '--version', 'Print the version')
    .helpOption('--help', 'Print this help')
    .addHelpText('after', HELP_END);
}
