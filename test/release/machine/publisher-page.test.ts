// Tests the page for publishers in TypeScript with the npm package of the release.
import { resolve } from 'node:path';
import { readsTypeScriptPage } from '../../pages/typescript-page.js';
import { NPM_PACKAGE } from './machine.js';

readsTypeScriptPage(`npm install --silent '${resolve(NPM_PACKAGE)}'`, 'real');
