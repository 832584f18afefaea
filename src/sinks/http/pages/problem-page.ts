// The page for a request that cannot be answered, such as for a page that does not exist.
import { markup } from './html.js';
import type { Html } from './html.js';
import type { PageParts } from './page.js';
import { breakable } from './breakable.js';
import { sentence } from '../../../shown/shown-text.js';

/** @param links pages that the user may have meant */
export const problemPage = (text: string, links?: Html): PageParts => ({
  title: 'shm_exporter',
  mood: 'bad',
  isEcho: true,
  heading: markup`<h1><a href="./">shm_exporter</a></h1>`,
  skipTo: { id: 'problem', name: 'the message' },
  main: markup`<p id="problem" class="summary bad">${breakable(sentence(text))}</p>
    ${links}
    <p><a href="./">All targets</a></p>`,
});
