#!/usr/bin/env node
// Starts shm_exporter from its bundle, which loads faster than separate modules.
await import(new URL('./bin/shm_exporter.js', import.meta.url).href);
