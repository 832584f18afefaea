// The script of pages that update themselves: fetches the page again and changes only what differs.

/**
 * It keeps focus and scroll position, stops while the page is hidden, and says when nobody answers.
 * `data-refresh` of the body is the time between two updates in milliseconds.
 */
export const SCRIPT = `
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
      note.textContent = 'No answer from the exporter since ' + last.toLocaleTimeString() + '. What is shown is of then.';
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
