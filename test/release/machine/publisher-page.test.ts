// Tests the page for publishers in TypeScript with the npm packages of the release.
import { resolve } from 'node:path';
import { readsTypeScriptPage } from '../../pages/typescript-page.js';
import { NPM_PACKAGE, PUBLISHER_PACKAGE } from './machine.js';

const packages = [PUBLISHER_PACKAGE, NPM_PACKAGE].map((file) => `'${resolve(file)}'`).join(' ');

readsTypeScriptPage(`npm install --silent ${packages}`, 'real');
