import { readsPage } from '../support/page-reader.js';

readsPage('docs/license.md', { needs: ['jq', 'openssl'] });
