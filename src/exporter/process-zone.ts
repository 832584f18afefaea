// The time zone of the process, which applies to times without an offset.
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { isSystemError } from '../errors.js';
import { canonicalZone, knownZones } from '../rules/formats.js';
import type { Plan } from './plan.js';

const ZONEINFO = '/usr/share/zoneinfo';
const LOCALTIME = '/etc/localtime';
/** The maximum number of bytes of a zone file. A larger file is not a time zone. */
const MAX_ZONE_BYTES = 2 ** 17;

/**
 * Sets TZ to the IANA name of the time zone if TZ has another form, such as a path or a POSIX rule. The C library reads
 * all forms, but Node.js would use UTC instead, or ignore daylight saving time.
 */
export function setProcessZone(environment: NodeJS.ProcessEnv): void {
  const { TZ } = environment;
  const zone = TZ === undefined && isKnownToNode() ? undefined : zoneOf(TZ ?? LOCALTIME);
  if (zone !== undefined) environment['TZ'] = zone;
}

/** The IANA name of the time zone that a value of TZ denotes; undefined if the zone is unknown. */
export function zoneOf(tz: string): string | undefined {
  const text = tz.replace(/^:/, '');
  if (text === '') return 'UTC';
  try {
    if (text.startsWith('/')) return zoneOfFile(text);
    return canonicalZone(text.replace(/^(posix|right)\//, '')) ?? zoneOfRule(text);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/** A warning if targets read times in the zone of TZ and Node.js does not know that zone. */
export function zoneWarnings(plan: Plan, tz: string | undefined): readonly string[] {
  if (tz === undefined || zoneOf(tz) !== undefined) return [];
  const apps = new Set(plan.filter(readsTimes).map(({ definition }) => definition.app));
  if (apps.size === 0) return [];
  return [
    `the environment variable TZ is ${JSON.stringify(tz)}, which is not the name of a time zone that Node.js knows: ` +
      `times that ${[...apps].join(', ')} writes without an offset may be wrong by hours; ` +
      'set publisher_time_zone, or TZ to a name such as Europe/London',
  ];
}

const readsTimes = ({ catalogue, definition }: Plan[number]): boolean =>
  definition.publisherTimeZone === '' &&
  (catalogue?.classes ?? []).some(({ rows }) =>
    rows.some(({ inputs }) => inputs.some(({ isTime }) => isTime)),
  );

/** Whether Node.js knows the zone of /etc/localtime. Checks the link first, since Intl takes 10 ms. */
const isKnownToNode = (): boolean =>
  isLinkToZone() || canonicalZone(Intl.DateTimeFormat().resolvedOptions().timeZone) !== undefined;

function isLinkToZone(): boolean {
  try {
    return /^\/usr\/share\/zoneinfo\/(?!posix\/|right\/)/.test(readlinkSync(LOCALTIME));
  } catch {
    return false;
  }
}

/** Finds the zone of a file by the path to which it links, else by a zone file with the same content. */
function zoneOfFile(path: string): string | undefined {
  const [, name] = /\/zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(realpathSync(path)) ?? [];
  return canonicalZone(name) ?? zoneOfContent(path);
}

function zoneOfContent(path: string): string | undefined {
  const content = contentOf(path);
  return knownZones().find((name) => content?.equals(contentOf(`${ZONEINFO}/${name}`) ?? NOTHING));
}

/** Finds the zone with a POSIX rule such as `CET-1CEST,M3.5.0,M10.5.0/3`: the last line of a zone file is its rule. */
function zoneOfRule(rule: string): string | undefined {
  if (!/^[\w<>+,./:-]+\d/.test(rule)) return undefined;
  const end = `\n${rule}\n`;
  return knownZones().find((name) => {
    const content = contentOf(`${ZONEINFO}/${name}`) ?? NOTHING;
    return content.subarray(-end.length).toString('latin1') === end;
  });
}

const NOTHING = Buffer.alloc(0);

/** The content of a regular file; undefined if there is none or it is too large for a time zone. */
function contentOf(path: string): Buffer | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size <= MAX_ZONE_BYTES ? readFileSync(path) : undefined;
}
