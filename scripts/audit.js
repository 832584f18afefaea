// Fails if a production dependency has a known vulnerability of severity high or critical. Passes with a note if
// the registry does not support audits, as some mirrors do not.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const FAILING = ['high', 'critical'];

/** Reads the output of `npm audit --json`: returns its findings as lines, and whether the check passes. */
export function verdict(printed) {
  const report = JSON.parse(printed);
  if (report.auditReportVersion === undefined)
    return {
      passes: true,
      lines: [`npm audit did not answer: ${report.message ?? report.error?.summary ?? 'unknown'}`],
    };
  const found = Object.values(report.vulnerabilities).filter(({ severity }) =>
    FAILING.includes(severity),
  );
  const lines = found.map(({ name, severity, range }) => `${severity}: ${name} ${range}`);
  return {
    passes: found.length === 0,
    lines:
      lines.length > 0
        ? lines
        : ['npm audit reports no vulnerability of severity high or critical'],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  const { passes, lines } = verdict(stdout === '' ? '{"message":"nothing printed"}' : stdout);
  for (const line of lines) console.log(line);
  process.exitCode = passes ? 0 : 1;
}
