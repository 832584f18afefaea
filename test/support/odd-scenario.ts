// A scenario with unusual names, ids and values, as real trees have them.

const ROOT = 'desk.example.com.1.adh';
const THREAD = `${ROOT}.1.sourceThread`;
const POOL = `${ROOT}.serviceGenerator.srcPrdServicePool`;

/** Integers beyond 2^53 are decimal strings. */
type Integer = number | string;

const u64 = (value: Integer, kind = 'unknown') => ({ type: 'u64', kind, value });
const i64 = (value: Integer, kind = 'unknown') => ({ type: 'i64', kind, value });
const counter = (value: Integer) => u64(value, 'counter');
const gauge = (value: Integer) => i64(value, 'gauge');
const bool = (value: boolean) => ({ type: 'bool', value });
const text = (value: string) => ({ type: 'string', value });
const fraction = (value: number | string) => ({ type: 'f64', value });

const process = (pid: number) => ({
  processID: i64(pid),
  time: text('Mon Jan  5 08:00:00 2026'),
  releaseVersion: text('3.8.0.L1.linux'),
  systemRelease: text('5.14.0-427.el9.x86_64'),
  shutdown: bool(false),
});

interface OddObject {
  readonly id: string;
  readonly class: string;
  readonly parent?: string;
  readonly state?: string;
  readonly variables: Readonly<Record<string, object>>;
}

/** A tree of everything that the JSON of a component can express, in the scenario format of the simulator. */
export const ODD_SCENARIO: {
  readonly server_key: string;
  readonly objects: readonly OddObject[];
} = {
  server_key: '80',
  objects: [
    { id: ROOT, class: 'ManagedProcess.SrcDist', variables: process(412) },
    // A root whose id looks like that of a child.
    { id: THREAD, class: 'ManagedProcess.SrcDist', variables: process(412) },
    // A root that is not a process.
    { id: 'desk.example.com.1.ads.dacs', class: 'DacsConnectionMgr', variables: {} },
    {
      // The id has several parts more than the parent's id.
      id: `${ROOT}.0.rrcpTransport.0.srcSide.rrcp.send.transmissionBus`,
      parent: ROOT,
      class: 'rrcpTransmissionBus',
      variables: {
        '# managed objs': i64(246),
        'bytesSent.14002': counter('18446744073709551615'),
        '32PingInterval': i64(30, 'gauge'),
        'Use send transport': bool(true),
        'grö\u00dfe \u{1f600}': gauge(17),
        'says "hi"': text('she said "hi"'),
        'back\\slash': text('C:\\ads\\logs\\'),
        'tab\tand\nline': text('one\ttwo\r\nthree\u0000\u0001\u001f\u007f'),
        'a/b?c%20d&e=f': text('\u2028\u2029\ufeff'),
        ['__proto__']: i64(1),
        constructor: text('toString'),
        empty: text(''),
        blank: text(' '),
        'no value yet': { type: 'string' },
        'no count yet': { type: 'u64', kind: 'counter' },
      },
    },
    {
      id: `${ROOT}.trailing.`,
      parent: ROOT,
      class: 'Server.SrcDist',
      state: 'auto_recovery',
      variables: { updateRate: gauge(0) },
    },
    {
      id: `${ROOT}.numbers`,
      parent: ROOT,
      class: 'NetRecSrc',
      variables: {
        'just beyond doubles': i64('9007199254740993'),
        'most of i64': i64('9223372036854775807'),
        'least of i64': i64('-9223372036854775808'),
        'beyond i64': u64('9223372036854775808'),
        'most of u64': u64('18446744073709551615'),
        'count at 2^31': counter(2 ** 31),
        'count at 2^32-1': counter(2 ** 32 - 1),
        'count at 2^32': counter(2 ** 32),
        'count before 2^31': counter(2 ** 31 - 1),
        'number at 2^31': i64(2 ** 31),
        'number at -2^31': i64(-(2 ** 31)),
        'number before -2^31': i64(-(2 ** 31) - 1),
        'level of a billion': gauge(-1_000_000_000),
        'level beyond doubles': gauge('9007199254740993'),
        zero: i64(0),
        tenth: fraction(0.1),
        whole: fraction(42),
        huge: fraction(1e300),
        tiny: fraction(5e-324),
        'not a number': fraction('NaN'),
      },
    },
    {
      id: `${ROOT}.texts`,
      parent: ROOT,
      class: 'ServerAttributes',
      variables: {
        answer: text('42'),
        below: text('-7'),
        padded: text('007'),
        signed: text('+1'),
        minusZero: text('-0'),
        fraction: text('1.5'),
        long: text('9007199254740993'),
        range: text('42 (0..100)'),
        flag: text('true'),
        nothing: text('null'),
        greek: text('\u03b1\u03b2\u03b3'),
        lines: text('<p>&amp;</p>'.repeat(40)),
      },
    },
    { id: `${POOL}.DF_LEV_ONE`, parent: ROOT, class: 'RTRManagedService', variables: {} },
    {
      id: `${POOL}.DF_LEV_TWO`,
      parent: ROOT,
      class: 'RTRManagedService',
      state: 'dead',
      variables: { name: text('DF_LEV_TWO') },
    },
    {
      id: `${ROOT}.mount.7`,
      parent: ROOT,
      class: 'Consumer.SinkDist',
      variables: { loginName: text('alice') },
    },
    {
      id: `${ROOT}.mount.7.stream`,
      parent: `${ROOT}.mount.7`,
      class: 'ConsumerDataStream',
      state: 'init',
      variables: { total: counter(12_345) },
    },
    {
      id: `${ROOT}.users.alice`,
      parent: ROOT,
      class: 'GlobalUser',
      state: 'manual_recovery',
      variables: { name: text('alice'), channels: gauge(3) },
    },
    {
      id: `${THREAD}.Zürich "quoted" \\ 東京`,
      parent: THREAD,
      class: 'Klasse ä',
      state: 'invalid',
      variables: { open: bool(false), shut: bool(true) },
    },
    // Many similar objects, so that every oddity affects some of them.
    ...Array.from({ length: 40 }, (_, n) => ({
      id: `${THREAD}.source.${n}`,
      parent: THREAD,
      class: 'ManagedSSLChannel',
      variables: {
        received: counter(3_000_000_000 + n),
        pending: gauge(n),
        active: bool(n % 2 === 0),
        channel: i64(n),
        name: text(`source ${n}`),
        number: text(String(n)),
      },
    })),
    ...Array.from({ length: 10 }, (_, n) => ({
      id: `${THREAD}.placeholder.${n}`,
      parent: THREAD,
      class: 'NoDataCache',
      variables: {},
    })),
  ],
};
