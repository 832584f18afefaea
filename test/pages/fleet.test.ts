import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { newer } from '../support/newer-programs.js';
import { readsPage } from '../support/page-reader.js';
import { PROJECT } from '../support/processes.js';

const NAMESPACES = ['unshare', '--net', '--mount', '--propagation', 'private'];

/** Runs a command on a host of fleet-hosts.sh, as its root. */
const SSH = `#!/bin/sh
host=\${1#*@}
shift
exec nsenter --target "$(cat "$HOME/hosts/$host.pid")" --net --mount sh -c "cd / && $*"
`;

/** Starts the exporter as its unit does, and returns once it listens. */
const SYSTEMCTL = `#!/bin/sh
[ "$1 $2" = "enable shm_exporter" ] && exit 0
[ "$1 $2" = "restart shm_exporter" ] || exit 1
log=/etc/shm_exporter/log
shm_exporter --config /etc/shm_exporter/exporter.toml > "$log" 2>&1 &
until grep -q 'metrics at' "$log"; do
  kill -0 $! || { cat "$log"; exit 1; }
  sleep 0.1
done
`;

/** Runs the command of `runuser -u USER -- COMMAND…` as this user: the machine of the test has no such user. */
const RUNUSER = `#!/bin/sh
shift 3
exec "$@"
`;

/** Checks the rules instead of evaluating them. */
const VMALERT = `#!/bin/sh
exec '${newer('vmalert')}' "$@" -dryRun
`;

const standIn = (program: string): string => `#!/bin/sh\nexec '${newer(program)}' "$@"\n`;
const QUERY = 'curl -s http://127.0.0.1:8428/api/v1/query -d "query=count(shm_target_up == 1)"';

readsPage('docs/fleet.md', {
  needs: ['unshare', 'nsenter', 'ip', 'curl'],
  holds: [
    [() => spawnSync('unshare', [...NAMESPACES.slice(1), 'true']).status === 0, 'no namespaces'],
    [() => existsSync(newer('prometheus')), 'scripts/newer-programs.js has not fetched prometheus'],
  ],
  under: [...NAMESPACES, join(PROJECT, 'test/pages/fleet-hosts.sh')],
  programs: {
    ssh: SSH,
    runuser: RUNUSER,
    systemctl: SYSTEMCTL,
    prometheus: standIn('prometheus'),
    'victoria-metrics': standIn('victoria-metrics'),
    vmalert: VMALERT,
  },
  words: () =>
    Promise.resolve({
      // Waits for the samples instead of a minute.
      'sleep 60': `until ${QUERY} | grep -q '"3"'; do sleep 1; done`,
    }),
  stays: {
    '$ victoria-metrics': /started server at|pprof handlers/,
    '$ prometheus': /Server is ready/,
  },
  unrun: {
    "$ for host in $(cat hosts.txt); do ssh root@$host 'cat":
      'needs a release: test/release/machine/debian-package.test.ts installs it',
    '$ kubectl': 'needs a cluster: test/deploy/chart.test.ts renders the chart',
  },
});
