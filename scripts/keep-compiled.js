// Keeps what V8 makes of the text of each program, for starts with the Node.js that runs this.
// Usage: node --hash-seed=1 keep-compiled.js FOLDER; with another seed the bytes are others each time.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { CODE } from './bundle.js';

const [, , folder] = argv;
// All functions, not only those that run while a program loads.
setFlagsFromString('--no-lazy');
const scripts = Object.keys(CODE).map((name) => {
  // The name is kept too: without the folder, so that it has the same bytes in each.
  const filename = `${name}.js`;
  const text = readFileSync(join(folder, filename), 'latin1');
  return { name, script: new Script(text, { filename }) };
});
// It is only taken by a V8 with the flags of now: those that it has by default.
for (const flag of ['--lazy', '--hash-seed=0']) setFlagsFromString(flag);
for (const { name, script } of scripts)
  writeFileSync(join(folder, `${name}.cache`), script.createCachedData());
