// What all pages for people have in common: head, landmarks, and headers that forbid everything foreign.
import { createHash } from 'node:crypto';
import { plainPage } from '../reply.js';
import type { Reply } from '../reply.js';
import { markup } from './html.js';
import type { Html } from './html.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

export interface PageParts {
  readonly title: string;
  /** The colour of its icon. */
  readonly mood: Mood;
  /** Beside the name of the program, at the top. */
  readonly heading: Html;
  /** What the first link skips to: the id of an element of `main`. */
  readonly skipTo: { readonly id: string; readonly name: string };
  readonly main: Html;
  readonly footer?: Html;
  /** Whether it repeats parts of its address: the length of such a page, compressed, would tell of what else is on it. */
  readonly isEcho?: boolean;
  /** Milliseconds after which it updates itself; undefined for never. */
  readonly refreshMs?: number | undefined;
}

export type Mood = 'good' | 'warn' | 'bad';

const COLOURS: Readonly<Record<Mood, string>> = { good: '2e9e50', warn: 'd98a00', bad: 'd2362c' };

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Own style and script by their hashes, the icon inside the page, forms and updates to this listener. */
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  'img-src data:',
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
};

/** Whatever the headers of a web configuration are: a page needs these. */
export const pageReply = (status: number, parts: PageParts): Reply => ({
  status,
  headers: HEADERS,
  page: plainPage(pageText(parts), 'text/html; charset=utf-8'),
  isCompressible: parts.isEcho !== true,
});

export function pageText(parts: PageParts): string {
  const { title, mood, heading, skipTo, main, footer, refreshMs } = parts;
  const icon = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='%23${COLOURS[mood]}'/></svg>`;
  const body = markup`<a class="skip" href="#${skipTo.id}">Skip to ${skipTo.name}</a>
    <header>${heading}</header>
    <main>
      <p class="note" id="offline" role="status" hidden></p>
      ${main}
    </main>
    <footer>${footer}</footer>`;
  const refresh = refreshMs === undefined ? '' : ` data-refresh="${refreshMs}"`;
  const script = refreshMs === undefined ? '' : `<script>${SCRIPT}</script>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${markup`${title}`.text}</title><link rel="icon" href="${markup`${icon}`.text}"><style>${STYLE}</style></head>
<body${refresh}>
${body.text}
${script}</body></html>
`;
}
