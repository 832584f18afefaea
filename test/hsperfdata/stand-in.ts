// A program that replaces a JVM: it maps a counter file that is a copy of another file.
// Arguments: the file to copy, the directory of counter files, and `own-tmp` for a /tmp of its own.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { argv, pid, stderr } from 'node:process';
import { join } from 'node:path';
import { map } from '#app/native/os/libc.js';

const [, , source = '', directory = '', place] = argv;
const bytes = readFileSync(source);
if (place === 'own-tmp') spawnSync('mount', ['-t', 'tmpfs', 'none', '/tmp']);
mkdirSync(directory, { recursive: true, mode: 0o755 });
const path = join(directory, String(pid));
writeFileSync(path, bytes, { mode: 0o600 });
const fd = openSync(path, 'r');
map(fd, bytes.length, 'read');
closeSync(fd);
stderr.write('ready\n');
setInterval(() => undefined, 60_000);
