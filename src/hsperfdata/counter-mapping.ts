// Maps each counter to an object and a variable in the tree of its JVM.

/** A child of the JVM's object: a collector, a generation, a memory pool or the application. */
export interface JvmPart {
  readonly className: 'Collector' | 'Generation' | 'Pool' | 'Application';
  /** A key that is unique among the parts of the JVM. */
  readonly key: string;
  /** The counters whose texts, joined by blanks, are the part's name. */
  readonly namedBy: readonly string[];
  /** The part's name if the counters of `namedBy` are missing. */
  readonly name: string;
}

export interface CounterMapping {
  /** The part that has the variable; undefined for the JVM's own object. */
  readonly part: JvmPart | undefined;
  /** The name of the variable in its object. */
  readonly variable: string;
}

const PART =
  /^sun\.gc\.(?:generation\.(?<g>\d{1,4})\.(?:space\.(?<s>\d{1,4})\.)?|collector\.(?<c>\d{1,4})\.|(?<pool>metaspace|compressedclassspace)\.)(?<rest>.+)$/;
/** Matches counters of the JVM and of its standard libraries. */
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

export function mapCounter(counter: string): CounterMapping {
  const { g, s, c, pool, rest = '' } = PART.exec(counter)?.groups ?? {};
  if (g !== undefined) return { part: generationPart(g, s), variable: rest };
  if (c !== undefined) {
    const key = `sun.gc.collector.${c}`;
    const names = { key, namedBy: [`${key}.name`], name: `collector ${c}` };
    return { part: { className: 'Collector', ...names }, variable: rest };
  }
  if (pool !== undefined) {
    const names = { key: `sun.gc.${pool}`, namedBy: [], name: POOL_NAMES[pool] ?? pool };
    return { part: { className: 'Pool', ...names }, variable: rest };
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

/**
 * The counters whose texts are exported. Other texts hold command lines, properties and paths, which may contain
 * passwords.
 */
const EXPORTED_TEXTS: ReadonlySet<string> = new Set([
  'java.property.java.vm.name',
  'java.property.java.vm.vendor',
  'java.property.java.vm.version',
  'java.property.java.version',
  'sun.gc.cause',
  'sun.gc.lastCause',
  'sun.gc.policy.name',
]);

export const isExportedText = (counter: string): boolean => EXPORTED_TEXTS.has(counter);
