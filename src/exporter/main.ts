#!/usr/bin/env node
// shm_exporter: stands up to a hangup from its first moment on, then loads the program.

// Loading takes a while, in which a reload must not end the process. There is nothing to do about
// it: the configuration is read later.
process.on('SIGHUP', () => undefined);
// Node would open its debugger to every program of the host.
process.on('SIGUSR1', () => undefined);
void import('./cli.js');
