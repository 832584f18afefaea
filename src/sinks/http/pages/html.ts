// HTML pages: templates with escaping, style, script, tables and error pages.
import { createHash } from 'node:crypto';
import { sentence } from '../../../shown/shown-text.js';
import { compressiblePage, plainPage } from '../reply.js';
import type { Reply, Status } from '../reply.js';

/** HTML text. Only the template tag `markup` makes it. */
class Html {
  constructor(readonly text: string) {}
}
export type { Html };

export type HtmlPart = Html | string | number | readonly HtmlPart[] | undefined;

/** A template tag for HTML. It escapes plain texts, joins lists, and omits undefined values. */
export const markup = (strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(textOf)));

const escaped = (text: string): string => text.replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);

function textOf(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return part === undefined ? '' : escaped(String(part));
}

/**
 * Updates the page every `data-refresh` milliseconds (an attribute of the body). Keeps focus and scroll position, stops
 * while the page is hidden, and shows a note if the exporter does not answer.
 */
const SCRIPT = `
(() => {
  const every = Number(document.body.dataset.refresh);
  if (!(every > 0)) return;
  const MAX_WAIT_MS = 10000;
  let timer;
  let isBusy = false;
  let last = new Date();
  const morph = (old, next) => {
    if (old.isEqualNode(next)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) { old.data = next.data; return; }
    for (const { name } of [...old.attributes]) if (!next.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
    for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    if (old.matches('input, select')) return;
    const known = new Map([...old.children].filter(({ id }) => id).map((each) => [each.id, each]));
    let at = old.firstChild;
    for (const wanted of [...next.childNodes]) {
      const fits = at !== null && !at.id && at.nodeName === wanted.nodeName ? at : undefined;
      const match = wanted.id ? known.get(wanted.id) : fits;
      if (match === undefined) { old.insertBefore(document.importNode(wanted, true), at); continue; }
      if (match === at) at = at.nextSibling;
      else old.insertBefore(match, at);
      morph(match, wanted);
    }
    while (at !== null) { const gone = at; at = at.nextSibling; gone.remove(); }
  };
  const take = (text) => {
    const next = new DOMParser().parseFromString(text, 'text/html');
    const focused = document.activeElement;
    for (const part of ['header', 'main']) {
      const [old, wanted] = [document.querySelector(part), next.querySelector(part)];
      if (old !== null && wanted !== null) morph(old, wanted);
    }
    document.title = next.title;
    const icons = [document, next].map((each) => each.querySelector('link[rel=icon]'));
    if (icons[0].href !== icons[1].href) icons[0].href = icons[1].href;
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  };
  const update = async () => {
    if (isBusy || document.hidden) return;
    isBusy = true;
    clearTimeout(timer);
    let wait = every;
    try {
      const signal = AbortSignal.timeout(MAX_WAIT_MS);
      const answer = await fetch(location.href, { cache: 'no-store', headers: { Accept: 'text/html' }, signal });
      if (!answer.ok) throw new Error(String(answer.status));
      take(await answer.text());
      last = new Date();
    } catch {
      wait = 3 * every;
      const note = document.getElementById('offline');
      note.textContent = 'No answer from the exporter since ' + last.toLocaleTimeString() + '. The page shows the values of that time.';
      note.hidden = false;
    } finally {
      isBusy = false;
      timer = setTimeout(update, wait);
    }
  };
  document.addEventListener('visibilitychange', update);
  timer = setTimeout(update, every);
})();
`;

const STYLE = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b1f24;--muted:#565f6a;--line:#d9dee4;--link:#0b57d0;
--good:#116329;--bad:#b3261e;--warn:#8a4b00;--good-bg:#e6f4ea;--bad-bg:#fcebea;--warn-bg:#fdf3e0;--head:#eef0f3}
@media(prefers-color-scheme:dark){:root{--page:#111418;--card:#191d23;--text:#e6e9ed;--muted:#a5aeb9;--line:#323943;--link:#8ab4f8;
--good:#7bdc94;--bad:#ff9d94;--warn:#f3c46a;--good-bg:#16301f;--bad-bg:#3b1c1a;--warn-bg:#36290f;--head:#21262e}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums;word-break:keep-all;overflow-wrap:normal;hyphens:none}
header,main,footer{max-width:100rem;margin:0 auto;padding:0 1.5rem}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1.5rem;padding-top:1.25rem}
footer{padding-top:1rem;padding-bottom:2rem;color:var(--muted)}
h1{font-size:1.3rem;line-height:1.3;margin:0}
h1 a{color:inherit;text-decoration:none}
h1 small,.muted{color:var(--muted);font-weight:400}
nav ul,.list{display:flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;margin:0;padding:0}
summary{cursor:pointer}.plain{list-style:none;margin:0;padding:0}
a{color:var(--link);text-underline-offset:.15em;text-decoration-thickness:1px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-99rem;background:var(--card);padding:.5rem 1rem;z-index:1}
.skip:focus{left:1rem;top:.5rem}
.whole{white-space:nowrap}
.summary{margin:1rem 0;padding:.7rem 1rem;border-radius:.5rem;border-left:.3rem solid;font-size:1.1rem;font-weight:600}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.summary.good{background:var(--good-bg)}.summary.bad{background:var(--bad-bg)}.summary.warn{background:var(--warn-bg)}
.note{margin:.75rem 0;padding:.6rem 1rem;border-radius:.5rem;background:var(--warn-bg);color:var(--warn)}
[hidden]{display:none}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem 1.5rem;margin:1rem 0;padding:.9rem 1rem;
background:var(--card);border:1px solid var(--line);border-radius:.5rem}
.facts dt{color:var(--muted);font-size:.85rem}.facts dd{margin:0}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
table{border-collapse:collapse;width:100%}
caption{text-align:left;padding:.7rem 1rem;font-weight:600}
th,td{text-align:left;vertical-align:top;padding:.55rem 1rem;border-top:1px solid var(--line)}
thead th{background:var(--head);font-size:.85rem;font-weight:600;color:var(--muted);white-space:nowrap}
tbody th{font-weight:600}
.sub{display:block;color:var(--muted);font-size:.87rem;font-weight:400}
.sub.warn{color:var(--warn)}
.state{display:inline-block;padding:0 .6em;border-radius:1em;font-weight:600;white-space:nowrap}
.state.good{background:var(--good-bg)}.state.bad{background:var(--bad-bg)}.state.warn{background:var(--warn-bg)}
.row-bad>:first-child{box-shadow:inset .25rem 0 var(--bad)}.row-warn>:first-child{box-shadow:inset .25rem 0 var(--warn)}
progress{width:8rem;max-width:60%;height:.6rem;accent-color:var(--link)}
.bar{display:flex;align-items:center;gap:.5rem}
form{display:flex;flex-wrap:wrap;align-items:end;gap:.6rem 1rem;margin:1rem 0;padding:.9rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
label{display:block;color:var(--muted);font-size:.85rem}
.wide{flex:1 1 18rem}
input,select,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--muted);border-radius:.35rem;padding:.35rem .6rem;width:100%;min-height:2.4rem}
button{width:auto;background:var(--link);border-color:var(--link);color:var(--card);font-weight:600;padding:.35rem 1.2rem;cursor:pointer}
.pager{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:baseline;margin:.9rem 0}
.object>*{background:var(--head)}
.targets th[scope=row]{min-width:15rem}.targets td:last-child{min-width:13.5rem}.targets .reason td{border-top:0;padding-top:0;color:var(--muted)}
.tree thead th:first-child{width:34%}.tree thead th:nth-child(2){width:16%}.tree thead th:nth-child(3){width:22%}
.tree tbody th.variable{font-weight:400}
.prefix{color:var(--muted);font-weight:400}
.metric{display:block}
.d0{padding-left:1rem}.d1{padding-left:1.8rem}.d2{padding-left:2.6rem}.d3{padding-left:3.4rem}.d4{padding-left:4.2rem}.d5{padding-left:5rem}.d6{padding-left:5.8rem}
@media(max-width:56rem){
header,main,footer{padding-left:.75rem;padding-right:.75rem}
table,caption,tbody,tr,th,td{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tbody tr{border-top:1px solid var(--line);padding:.5rem 0}
tbody th,tbody td{border:0;padding:.15rem .9rem}
td:empty{display:none}
td[data-is]::before{content:attr(data-is) ": ";color:var(--muted);font-size:.85rem}
tbody .d1,tbody .d2,tbody .d3,tbody .d4,tbody .d5,tbody .d6{padding-left:.9rem}
.tree tr:not(.object)>*{padding-left:1.9rem}
.row-bad{box-shadow:inset .25rem 0 var(--bad)}.row-warn{box-shadow:inset .25rem 0 var(--warn)}.row-bad>:first-child,.row-warn>:first-child{box-shadow:none}
form>div{flex:1 1 9rem}button{width:100%}
.targets th[scope=row],.targets td:last-child{min-width:0}.targets tr.reason{border-top:0;padding-top:0}
tr.object{background:var(--head)}
}
@media print{nav,form,.skip,.pager{display:none}}
`;

export interface HtmlPage {
  readonly title: string;
  readonly severity: Severity;
  readonly heading: Html;
  /** The element of `main` to which the first link of the page skips. */
  readonly skipTo: { readonly id: string; readonly name: string };
  readonly main: Html;
  readonly footer?: Html;
  /**
   * Whether the page repeats parts of its URL. If so, it must not be compressed: its compressed size would reveal
   * other content.
   */
  readonly isEcho?: boolean;
  /** The period of updates in milliseconds; undefined for none. */
  readonly refreshMs?: number | undefined;
}

export type Severity = 'good' | 'warn' | 'bad';

const COLOURS: Readonly<Record<Severity, string>> = {
  good: '2e9e50',
  warn: 'd98a00',
  bad: 'd2362c',
};

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The Content-Security-Policy: allows this style and script by hash, the inline icon, and requests to this listener. */
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

/** Makes the reply with an HTML page. Its headers take precedence over headers of the web configuration. */
export function htmlReply(status: Status, parts: HtmlPage): Reply {
  const pageOf = parts.isEcho === true ? plainPage : compressiblePage;
  return { status, headers: HEADERS, page: pageOf(htmlText(parts), 'text/html; charset=utf-8') };
}

export function htmlText(parts: HtmlPage): string {
  const { title, severity, heading, skipTo, main, footer, refreshMs } = parts;
  const icon = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='%23${COLOURS[severity]}'/></svg>`;
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

/**
 * Allows line breaks after the dots of an id, but not inside a number.
 * @param text without control characters and other characters that change the display
 */
export const breakable = (text: string): readonly Html[] =>
  text.split(/(?<=\s)(?=\S)/).map((word) => {
    const buffers = word.split(/(?<=\.)(?<!\d\.(?=\d))(?=[^\s.])/);
    return markup`${buffers.map((part, i) => markup`${i === 0 ? undefined : WBR}${whole(part)}`)}`;
  });

const WBR = markup`<wbr>`;

/** Prevents line breaks at characters such as hyphens. */
const whole = (part: string): Html | string =>
  /[^\w.,:;()\s]/.test(part) ? markup`<span class="whole">${part}</span>` : part;

interface TableParts {
  readonly id: string;
  /** The name of the region around the table, for screen readers. */
  readonly name: string;
  readonly className: string;
  readonly caption: HtmlPart;
  readonly heads: readonly string[];
  readonly rows: readonly Html[];
}

/** A table in a scrolling region. Its ARIA roles are explicit, since the style for narrow screens changes `display`. */
export const tableOf = ({ id, name, className, caption, heads, rows }: TableParts): Html =>
  markup`<div class="scroll" id="${id}" tabindex="0" role="region" aria-label="${name}">
    <table class="${className}" role="table">
      <caption>
        ${caption}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${heads.map((head) => markup`<th scope="col" role="columnheader">${head}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows}
      </tbody>
    </table>
  </div>`;

/** An error page. @param links suggests other pages */
export const problemPage = (text: string, links?: Html): HtmlPage => ({
  title: 'shm_exporter',
  severity: 'bad',
  isEcho: true,
  heading: markup`<h1><a href="./">shm_exporter</a></h1>`,
  skipTo: { id: 'problem', name: 'the message' },
  main: markup`<p id="problem" class="summary bad">${breakable(sentence(text))}</p>
    ${links}
    <p><a href="./">All targets</a></p>`,
});
