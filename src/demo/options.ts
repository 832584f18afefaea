// What the demo is asked for on its command line.
import { parseArgs } from 'node:util';
import { Fault, messageOf } from '../errors.js';

export interface DemoOptions {
  /** Prints documents instead of serving them. */
  readonly isStdout: boolean;
  /** Where the exporter listens, 1 to 65535. */
  readonly port: number;
}

const USAGE = 'usage: npm run demo -- [--stdout] [--port N]';
const DEFAULT_PORT = '9464';

/** @throws Fault USAGE with the usage on a line of its own */
export function parseOptions(args: readonly string[]): DemoOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        stdout: { type: 'boolean', default: false },
        port: { type: 'string', default: DEFAULT_PORT },
      },
    });
    const port = /^[1-9]\d{0,4}$/.test(values.port) ? Number(values.port) : 0;
    if (port < 1 || port > 65_535)
      throw new RangeError(`port ${JSON.stringify(values.port)}, allowed: 1 to 65535`);
    return { isStdout: values.stdout, port };
  } catch (error) {
    throw new Fault('USAGE', `${messageOf(error)}\n${USAGE}`);
  }
}
