// The formats of a component's settings.
import { ROOT, compileSeedPrefix } from '../../catalogue/match/patterns.js';
import { quoted } from '../../document/document.js';
import { catchFault } from '../../errors.js';
import { word } from '../../rules/formats.js';
import { judged, text } from '../../rules/rule.js';
import type { Rule } from '../../rules/rule.js';

/** The path of the view with the whole tree, after the base address. */
const VIEW = '/sharedmem';

/** The base address of a component, to which `treeUrlOf` adds the path of the tree. */
export const baseAddress = judged(
  'an address such as "http://127.0.0.1:8080", without a user name, "?" or "#"',
  (raw) => {
    // Do not quote an address with one of these characters: a password may precede the "@", and a key may follow the
    // "?" or "#".
    const mark = ['@', '?', '#'].find((each) => raw.includes(each));
    const seen = mark === undefined ? quoted(raw) : `an address with "${mark}" in it`;
    if (!/^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/.test(raw)) return seen;
    if (/\/sharedmem(\/|$)/.test(raw))
      return `${seen}, which includes ${VIEW}, the path that the bridge adds`;
    const isAddress = URL.canParse(raw) && new URL(raw).port !== '0';
    if (isAddress) return undefined;
    // Node.js rejects a URL whose IPv6 address has a zone.
    return `${seen}, whose host ${/\[[^\]]*%/.test(raw) ? 'has an IPv6 zone' : 'or port is invalid'}`;
  },
);

/** The address of the whole tree below a base address. */
export const treeUrlOf = (base: string): URL => new URL(`${base.replace(/\/+$/, '')}${VIEW}`);

/** Where `readSecurityKey` finds a security key; empty if there is no key. */
export const keySource = judged(
  '"file:" and a path, or "env:" and the name of an environment variable',
  (raw) => {
    if (raw === '' || /^file:(?! )\P{Cc}{1,1024}$|^env:[A-Za-z_][A-Za-z0-9_]*$/u.test(raw))
      return undefined;
    return /^(file|env):/.test(raw)
      ? quoted(raw)
      : 'a string without "file:" or "env:" at its start';
  },
  () => 'a value that is not a string',
);

/** A prefix of seed paths, in the exporter's syntax. */
export const seedPrefix: Rule<string> = {
  ...word,
  read(raw, path, report) {
    const prefix = word.read(raw, path, report);
    const compiled = catchFault(
      () => compileSeedPrefix(prefix ?? ROOT),
      ({ message }) => {
        report(path, message);
      },
    );
    return compiled && prefix;
  },
};

export const hostName = text(
  /^$|^[A-Za-z0-9_.-]{1,255}$/,
  'a string of at most 255 letters, digits, "_", "-" and "."',
);

/** True if the address is on this host. */
export const isLocal = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
