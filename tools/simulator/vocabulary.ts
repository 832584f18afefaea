// The names of objects, labels and texts of a simulated application.
import type { PathPattern } from '#app/catalogue/match/path-pattern.js';

/** The values of labels in a realistic installation; numbers for the others. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  transport: ['ripc', 'ws', 'rest', 'ipc'],
  service: ['ELEKTRON_DD', 'IDN_RDF', 'DELAYED_FEED', 'CONTRIB', 'FX_POLLED', 'BONDS'],
  route: ['localroute', 'route1', 'route2'],
  container: ['EQUITIES', 'FUTURES', 'FOREX', 'RATES'],
  model: ['SPREAD', 'VWAP', 'MID', 'BASKET'],
};

/** The texts of variables by name; instances alternate between them. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  version: ['3.8.0.L1'],
  releaseVersion: ['3.8.0.L1.linux'],
  RTSDKVersion: ['2.1.3.L1'],
  systemRelease: ['5.14.0-427.el9.x86_64'],
  time: ['Mon Jan  5 08:00:00 2026'],
  hostname: ['desk-01', 'desk-02', 'algo-01', 'risk-01', 'web-01'],
  IPAddress: ['192.0.2.11', '192.0.2.12', '192.0.2.21', '192.0.2.31', '192.0.2.41'],
  connectType: ['RSSL'],
  loginName: ['alice', 'bob', 'carol', 'dave', 'svc-risk'],
  position: ['192.0.2.11/desk-01', '192.0.2.12/desk-02', '192.0.2.21/algo-01'],
  applicationName: ['256'],
  appName: ['feed-a', 'feed-b'],
  dataType: ['MARKET_PRICE', 'MARKET_BY_ORDER'],
  cacheType: ['SOURCE'],
};

/** Labels whose objects come and go while an application runs. */
const TRANSIENT = new Set(['session', 'mount', 'user', 'channel']);

/** True if objects with that label come and go. */
export const isTransient = (label: string): boolean => TRANSIENT.has(label);

/** How many names a label has; undefined if they are numbers. */
export const nameCount = (label: string): number | undefined => NAMES[label]?.length;

/** The text of `variable` in the `n`th instance. */
export const textOf = (variable: string, n: number): string => {
  const texts = TEXTS[variable] ?? [];
  return texts[n % Math.max(1, texts.length)] ?? `${variable}-${n + 1}`;
};

/** The seed path of the `n`th instance that fits a pattern. */
export function pathFor(pattern: PathPattern, n: number): string {
  return pattern.segments
    .map(({ literal, label = '', matches }, depth) => {
      if (literal !== undefined) return literal;
      const names = NAMES[label] ?? [];
      const number = String(n + 1);
      const candidates = [names[n % Math.max(1, names.length)], number, `${label}${number}`];
      return candidates.find((each) => each !== undefined && matches(each)) ?? `${label}${depth}`;
    })
    .join('.');
}
