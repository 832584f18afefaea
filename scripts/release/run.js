// Runs a program and returns its stdout. If the program fails, throws an error with its output.
import { spawnSync } from 'node:child_process';

export function run(program, args, options = {}) {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  if (status === 0) return stdout;
  const reason = error?.message ?? signal ?? `status ${status}`;
  throw new Error(`${program} ${args.join(' ')}: ${reason}\n${stdout ?? ''}${stderr ?? ''}`);
}
