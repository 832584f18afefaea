import { readsPage } from '../support/page-reader.js';

readsPage('docs/catalogue.md', {
  given: { 'shm_license issue --licensee T --days 1 --out license.json': /expires/ },
});
