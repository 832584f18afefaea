#!/usr/bin/env node
// shm_exporter from the file that the build made of it, which loads faster than its modules.
await import(new URL('./bin/shm_exporter.js', import.meta.url).href);
