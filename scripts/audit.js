// Fails when a package that users get has a known weakness of level high or critical. Where the registry
// does not answer such questions, as a mirror may not, it says so and passes.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const FAILING = ['high', 'critical'];

/** What `npm audit --json` printed, as sentences, and whether the check passes. */
export function verdict(printed) {
  const report = JSON.parse(printed);
  if (report.auditReportVersion === undefined)
    return {
      passes: true,
      lines: [`npm audit has no answer: ${report.message ?? report.error?.summary ?? 'unknown'}`],
    };
  const found = Object.values(report.vulnerabilities).filter(({ severity }) =>
    FAILING.includes(severity),
  );
  const lines = found.map(({ name, severity, range }) => `${severity}: ${name} ${range}`);
  return {
    passes: found.length === 0,
    lines: lines.length > 0 ? lines : ['npm audit knows no weakness of level high or critical'],
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
