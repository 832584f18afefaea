// A folder in memory, where creating and removing thousands of files takes little time.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { uniqueName } from '../support/test-run.js';

const MEMORY = '/dev/shm';

/** Makes a folder, which the caller removes. */
export const makeMemoryFolder = (): string => mkdtempSync(join(MEMORY, `${uniqueName()}-`));
