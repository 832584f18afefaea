// Where a counter belongs in the tree of a JVM: of which object it is a variable, and of what class.

/** An object below that of the JVM. */
export interface JvmPart {
  readonly className: 'Collector' | 'Generation' | 'Pool' | 'Application';
  /** Tells it from other parts of the JVM. */
  readonly key: string;
  /** The counters whose texts name it, one after the other. */
  readonly namedBy: readonly string[];
  /** What names it where these are missing. */
  readonly name: string;
}

export interface CounterMapping {
  /** Undefined for the JVM itself. */
  readonly part: JvmPart | undefined;
  /** The name of the variable there. */
  readonly variable: string;
}

const SPACE = /^sun\.gc\.generation\.(?<g>\d{1,4})\.space\.(?<s>\d{1,4})\.(?<rest>.+)$/;
const GENERATION = /^sun\.gc\.generation\.(?<g>\d{1,4})\.(?<rest>.+)$/;
const COLLECTOR = /^sun\.gc\.collector\.(?<c>\d{1,4})\.(?<rest>.+)$/;
const CLASS_SPACE = /^sun\.gc\.(?<pool>metaspace|compressedclassspace)\.(?<rest>.+)$/;
/** What the JVM and the libraries that come with it count. */
const OWN = /^(?:sun|java|jdk|com\.sun)\./;

const POOL_NAMES: Readonly<Record<string, string>> = {
  metaspace: 'metaspace',
  compressedclassspace: 'compressed class space',
};

const APPLICATION: JvmPart = {
  className: 'Application',
  key: 'application',
  namedBy: [],
  name: 'application',
};

/** The place of a counter, by its name alone. */
export function mapCounter(counter: string): CounterMapping {
  const {
    g,
    s,
    c,
    pool,
    rest = '',
  } = (SPACE.exec(counter) ?? GENERATION.exec(counter) ?? COLLECTOR.exec(counter))?.groups ??
  CLASS_SPACE.exec(counter)?.groups ??
  {};
  if (g !== undefined) return { part: generationPart(g, s), variable: rest };
  if (c !== undefined) {
    const key = `sun.gc.collector.${c}`;
    const part = { className: 'Collector', key, namedBy: [`${key}.name`], name: `collector ${c}` };
    return { part: part as JvmPart, variable: rest };
  }
  if (pool !== undefined) {
    const key = `sun.gc.${pool}`;
    const part: JvmPart = {
      className: 'Pool',
      key,
      namedBy: [],
      name: POOL_NAMES[pool] ?? pool,
    };
    return { part, variable: rest };
  }
  return { part: OWN.test(counter) ? undefined : APPLICATION, variable: counter };
}

function generationPart(generation: string, space: string | undefined): JvmPart {
  const key = `sun.gc.generation.${generation}`;
  const namedBy = [`${key}.name`];
  const name = `generation ${generation}`;
  if (space === undefined) return { className: 'Generation', key, namedBy, name };
  const spaceKey = `${key}.space.${space}`;
  return {
    className: 'Pool',
    key: spaceKey,
    namedBy: [...namedBy, `${spaceKey}.name`],
    name: `${name} space ${space}`,
  };
}

/** The texts that are shown. Others hold command lines, properties and paths, and passwords with them. */
const SHOWN_TEXTS: ReadonlySet<string> = new Set([
  'java.property.java.vm.name',
  'java.property.java.vm.vendor',
  'java.property.java.vm.version',
  'java.property.java.version',
  'sun.gc.cause',
  'sun.gc.lastCause',
  'sun.gc.policy.name',
]);

/** Whether a text may be shown to anybody. */
export const isShownText = (counter: string): boolean => SHOWN_TEXTS.has(counter);
