// Runs a program of this folder, with what V8 made of its text when it was built, where this is the same V8.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

/** @param name of the program's file, without `.js` */
module.exports = (name) => {
  const filename = join(__dirname, `${name}.js`);
  // One byte a character: the build refuses others.
  const text = readFileSync(filename, 'latin1');
  new Script(text, { filename, cachedData: compiled(name) }).runInThisContext()(require, filename);
};

/** Undefined where none was kept. Another V8, or one with other flags, compiles the text itself. */
function compiled(name) {
  try {
    return readFileSync(join(__dirname, `${name}.cache`));
  } catch {
    return undefined;
  }
}
