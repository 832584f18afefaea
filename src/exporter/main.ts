#!/usr/bin/env node
// The entry point of shm_exporter: ignores SIGHUP and SIGUSR1 while it loads the program.
import '../stdio/process-streams.js';

// By default, a reload request (SIGHUP) would end the process while the program loads.
process.on('SIGHUP', () => undefined);
// By default, SIGUSR1 would open the debugger of Node.js, to which each program of the host could connect.
process.on('SIGUSR1', () => undefined);
void import('./cli.js');
