// A program that takes the place of a JVM: it maps a copy of a counter file. Arguments: the file to copy, the
// directory of counter files, and `own-tmp` for a private /tmp.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { argv, pid, stderr } from 'node:process';
import { join } from 'node:path';
import { map } from '#app/native/os/libc.js';

const [, , source = '', directory = '', mode] = argv;
const bytes = readFileSync(source);
if (mode === 'own-tmp') spawnSync('mount', ['-t', 'tmpfs', 'none', '/tmp']);
mkdirSync(directory, { recursive: true, mode: 0o755 });
const path = join(directory, String(pid));
writeFileSync(path, bytes, { mode: 0o600 });
const fd = openSync(path, 'r');
map(fd, bytes.length, 'read');
closeSync(fd);
stderr.write('ready\n');
setInterval(() => undefined, 60_000);
