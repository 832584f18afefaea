#!/usr/bin/env node
// shm_exporter from the few files that the build made of it, which load twice as fast as its modules.
await import(new URL('./bin/shm_exporter.js', import.meta.url).href);
