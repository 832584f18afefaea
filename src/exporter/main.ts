#!/usr/bin/env node
// The entry point of shm_exporter: ignores SIGHUP and SIGUSR1 while it loads the program.
import '../stdio/process-streams.js';

// A reload request while the program loads must not end the process, which reads the configuration later anyway.
process.on('SIGHUP', () => undefined);
// By default, Node.js would open its debugger to all programs of the host.
process.on('SIGUSR1', () => undefined);
void import('./cli.js');
