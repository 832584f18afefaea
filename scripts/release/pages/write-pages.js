// Writes the manual pages and the completions of all programs into a folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROGRAMS } from '../programs.js';
import { bashCompletion } from './bash-completion.js';
import { fishCompletion } from './fish-completion.js';
import { manPage } from './man-page.js';
import { zshCompletion } from './zsh-completion.js';

/** The path of each page below the prefix of the installation. Man and the shells search these folders. */
const PLACES = {
  'share/man/man1/NAME.1': manPage,
  'share/bash-completion/completions/NAME': bashCompletion,
  'share/zsh/vendor-completions/_NAME': zshCompletion,
  'share/fish/vendor_completions.d/NAME.fish': fishCompletion,
};

export function writePages(folder, release) {
  for (const each of PROGRAMS)
    for (const [place, page] of Object.entries(PLACES)) {
      const path = join(folder, place.replace('NAME', each.program.name));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, page(each, release));
    }
}
