#!/usr/bin/env node
// The entry point of shm_exporter: ignores SIGHUP and SIGUSR1 while it loads the program.
import '../stdio/process-streams.js';

// By default, a reload request (SIGHUP) would end the process while the program loads.
process.on('SIGHUP', () => undefined);
// By default, SIGUSR1 opens the debugger of Node.js, and each program of the host can connect to it.
process.on('SIGUSR1', () => undefined);
void import('./cli.js');
