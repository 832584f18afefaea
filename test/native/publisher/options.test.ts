// Tests that a publisher refuses unknown options, and options and arguments of a wrong type. A JavaScript
// program may pass these.
import { expect } from 'chai';
import { inspect } from 'node:util';
import { Publisher } from '#app/native/publisher/publisher.js';
import { name as configuredName } from '#app/rules/formats.js';
import { freshSegments } from '../../support/segments.js';

const NAME =
  'allowed: a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."';

/** Options of `new Publisher` that are refused, and the part of the message that follows the name of the class. */
const CONSTRUCTOR: readonly (readonly [options: unknown, message: string])[] = [
  [undefined, 'found nothing, allowed: an object with options'],
  [null, 'found nothing, allowed: an object with options'],
  ['82', 'found "82", allowed: an object with options'],
  [{}, `serverKey: found nothing, ${NAME}`],
  [{ serverkey: 'web' }, 'unknown option "serverkey" (did you mean "serverKey"?)'],
  [
    { serverKey: 'web', server_key: 'a' },
    'unknown option "server_key" (did you mean "serverKey"?)',
  ],
  [{ serverKey: 'web', contextID: 'a' }, 'unknown option "contextID" (did you mean "contextId"?)'],
  [{ serverKey: 'web', pool: 'a' }, 'unknown option "pool", allowed: contextId, poolName, '],
  [{ serverKey: 'web', toString: 'a' }, 'unknown option "toString", allowed: contextId'],
  [{ serverKey: undefined }, `serverKey: found nothing, ${NAME}`],
  [{ serverKey: null }, `serverKey: found nothing, ${NAME}`],
  [{ serverKey: 82 }, `serverKey: found 82 (write "82"), ${NAME}`],
  [{ serverKey: '' }, `serverKey: found "", ${NAME}`],
  [{ serverKey: 'a b' }, `serverKey: found "a b", ${NAME}`],
  [{ serverKey: 'x'.repeat(65) }, 'serverKey: found "xxx'],
  [{ serverKey: ['82'] }, `serverKey: found an array of 1, ${NAME}`],
  [{ serverKey: '82', contextId: '' }, `contextId: found "", ${NAME}`],
  [{ serverKey: '82', contextId: '.a' }, `contextId: found ".a", ${NAME}`],
  [{ serverKey: '82', poolName: 'a/b' }, `poolName: found "a/b", ${NAME}`],
  [{ serverKey: '82', heartbeatMs: '1000' }, 'heartbeatMs: found "1000", allowed: an integer from'],
  [{ serverKey: '82', heartbeatMs: null }, 'heartbeatMs: found nothing, allowed: an integer from'],
  [{ serverKey: '82', heartbeatMs: 2 ** 53 }, 'heartbeatMs: found 9'],
  [
    { serverKey: '82', mode: '0644' },
    'mode: found "0644" (write 0o644), allowed: an integer from 0 to 0o777',
  ],
  [
    { serverKey: '82', mode: 600 },
    'mode: found 600 (write 0o600), allowed: an integer from 0 to 0o777',
  ],
  [{ serverKey: '82', mode: 0o1777 }, 'mode: found 1023, allowed: an integer from 0 to 0o777'],
  [
    { serverKey: 'x-{pid}' },
    'serverKey: found "x-{pid}" (write the pid: a Publisher does not replace {pid}), allowed: a string of 1 to 64',
  ],
  [{ serverKey: '82', mode: Number.NaN }, 'mode: found NaN, allowed: an integer from 0 to 0o777'],
  [{ serverKey: '82', failIfBusy: 1 }, 'failIfBusy: found 1 (write true), allowed: true or false'],
  [{ serverKey: '82', warn: 'stderr' }, 'warn: found "stderr", allowed: a function'],
  [{ serverKey: '82', pid: '1' }, 'pid: found "1", allowed: an integer from'],
  [{ serverKey: '82', realtimeNs: 1n }, 'realtimeNs: found 1, allowed: a function'],
  [{ serverKey: '82', capacity: 64 }, 'capacity: found 64, allowed: an object with options'],
  [
    { serverKey: '82', capacity: { slot: 64 } },
    'capacity: unknown option "slot" (did you mean "slots"?)',
  ],
  [
    { serverKey: '82', capacity: { slots: 0 } },
    'capacity: slots: found 0, allowed: an integer from 1',
  ],
  [{ serverKey: '82', capacity: { records: '64' } }, 'capacity: records: found "64", allowed: an'],
];

describe('The options of a publisher', () => {
  const segments = freshSegments();

  for (const [options, message] of CONSTRUCTOR)
    it(`refuse ${inspect(options)} with "${message}"`, () => {
      expect(() => new Publisher(options as { serverKey: string })).to.throw(
        RangeError,
        `Publisher: ${message}`,
      );
    });

  it('allow the same server keys as the configuration of the exporter', () => {
    const capacity = { records: 1, slots: 1, stringBytes: 1, frameBytes: 1 };
    const { contextId } = segments;
    const accepts = (serverKey: string) => {
      try {
        new Publisher({ contextId, serverKey, capacity }).close();
        return true;
      } catch {
        return false;
      }
    };
    for (const key of [
      'a',
      'A-b_c.9',
      'x'.repeat(64),
      'x'.repeat(65),
      '',
      '.a',
      'a.',
      'ü',
      'a/b',
      ' a',
      'a\n',
    ])
      expect(accepts(key), key).to.equal(
        configuredName.read(key, [], () => undefined) !== undefined,
      );
  });

  it('have their defaults if they are undefined', () => {
    const publisher = segments.publish('82', { mode: undefined } as object);
    const root = publisher.addRoot('r', 'C', { state: undefined, identity: undefined } as object);
    publisher.addVariable(root, 'v', 'u64', { kind: undefined, unit: undefined } as object).set(1);
    expect(publisher.holdsKey).to.equal(true);
  });
});

describe('The methods of a publisher', () => {
  const segments = freshSegments();
  const wrong = (value: unknown) => value as never;
  const OBJECT = 'allowed: an object that addRoot or addObject returned';

  it('refuse unknown options, and options and arguments of a wrong type, and store nothing', () => {
    const publisher = segments.publish('82');
    const root = publisher.addRoot('r', 'C');
    const value = publisher.addVariable(root, 'v', 'u64');
    const before = segments.bytes('82').subarray(4096);
    const calls: readonly (readonly [call: () => unknown, message: string])[] = [
      [() => publisher.addRoot(wrong(undefined), 'C'), 'addRoot: name: found nothing'],
      [() => publisher.addRoot('s', wrong(5)), 'addRoot: className: found 5'],
      [
        () => publisher.addRoot('s', 'C', wrong('init')),
        'addRoot: found "init", allowed: an object',
      ],
      [
        () => publisher.addRoot('s', 'C', wrong({ sync: true })),
        'addRoot: unknown option "sync", allowed: state, synced, foreignId, identity',
      ],
      [
        () => publisher.addRoot('s', 'C', { identity: wrong({ app: 'x' }) }),
        'addRoot: identity: unknown option "app", allowed: host, instance, application',
      ],
      [
        () => publisher.addRoot('s', 'C', { identity: { host: wrong(1) } }),
        'addRoot: identity: host: found 1',
      ],
      [
        () => publisher.addObject(wrong(undefined), 'r.o', 'C'),
        `addObject: parent: found nothing, ${OBJECT}`,
      ],
      [
        () => publisher.addObject(wrong('r'), 'r.o', 'C'),
        `addObject: parent: found "r", ${OBJECT}`,
      ],
      [() => publisher.addObject(root, wrong(7), 'C'), 'addObject: name: found 7'],
      [() => publisher.addObject(root, 'r.o', wrong(null)), 'addObject: className: found nothing'],
      [
        () => publisher.addObject(root, 'r.o', 'C', wrong({ syncd: false })),
        'addObject: unknown option "syncd" (did you mean "synced"?)',
      ],
      [
        () => publisher.addObject(root, 'r.o', 'C', { synced: wrong('no') }),
        'addObject: synced: found "no" (write false), allowed: true or false',
      ],
      [
        () => publisher.addObject(root, 'r.o', 'C', { state: wrong('nornal') }),
        'addObject: state: found "nornal" (did you mean "normal"?), allowed: "init" or "normal"',
      ],
      [
        () => publisher.addObject(root, 'r.o', 'C', { foreignId: wrong(1) }),
        'addObject: foreignId: found 1 (write true), allowed: true or false',
      ],
      [
        () => publisher.addVariable(wrong(null), 'w', 'u64'),
        `addVariable: object: found nothing, ${OBJECT}`,
      ],
      [
        () => publisher.addVariable(root, wrong(undefined), 'u64'),
        'addVariable: name: found nothing',
      ],
      [
        () => publisher.addVariable(root, 'w', wrong('u32')),
        'addVariable: type: found "u32", allowed: "u64" or',
      ],
      [
        () => publisher.addVariable(root, 'w', 'u64', wrong('counter')),
        'addVariable: found "counter", allowed: an object with options',
      ],
      [
        () => publisher.addVariable(root, 'w', 'u64', wrong({ type: 'counter' })),
        'addVariable: unknown option "type", allowed: kind, unit, help, schema, textBytes, labels, synced',
      ],
      [
        () => publisher.addVariable(root, 'w', 'u64', wrong({ units: 'bytes' })),
        'addVariable: unknown option "units" (did you mean "unit"?)',
      ],
      [
        () => publisher.addVariable(root, 'w', 'u64', { kind: wrong('Counter') }),
        'addVariable: kind: found "Counter" (did you mean "counter"?)',
      ],
      [
        () => publisher.addVariable(root, 'w', 'u64', { unit: wrong(1) }),
        'addVariable: unit: found 1',
      ],
      [
        () => publisher.addVariable(root, 'w', 'u64', { help: wrong(null) }),
        'addVariable: help: found nothing',
      ],
      [
        () => publisher.addVariable(root, 'w', 'histogram', { schema: wrong(1) }),
        'addVariable: schema: found 1, allowed: an array of at most 512 items',
      ],
      [
        () => publisher.addVariable(root, 'w', 'histogram', { schema: wrong(['1']) }),
        'addVariable: schema[0]: found "1", allowed: a number',
      ],
      [
        () => publisher.addVariable(root, 'w', 'string', { textBytes: wrong('64') }),
        'addVariable: textBytes: found "64"',
      ],
      [
        () => publisher.addVariable(root, 'w', 'u64', { synced: wrong(0) }),
        'addVariable: synced: found 0 (write false), allowed: true or false',
      ],
      [
        () => publisher.setState(wrong(undefined), 'normal'),
        `setState: object: found nothing, ${OBJECT}`,
      ],
      [() => publisher.setState(root, wrong(undefined)), 'state: found nothing, allowed: "init"'],
      [() => publisher.setSynced(wrong('r')), `setSynced: object: found "r", ${OBJECT}`],
      [
        () => publisher.setSynced(root, wrong('no')),
        'setSynced: isSynced: found "no" (write false), allowed: true',
      ],
      [() => publisher.setAsOf(wrong(1n), 1n), `setAsOf: root: found 1, ${OBJECT}`],
      [
        () => publisher.setAsOf(root, wrong('now')),
        'setAsOf: unixNs: found "now", allowed: integers',
      ],
      [() => publisher.removeObject(wrong('r')), `removeObject: object: found "r", ${OBJECT}`],
      [
        () => publisher.removeVariable(wrong('v')),
        'removeVariable: value: found "v", allowed: a value that addVariable returned',
      ],
      [() => publisher.setDropped(wrong('1'), 0), 'setDropped: objects: found "1"'],
      [() => publisher.setDropped(0, -1), 'setDropped: variables: found -1'],
      [() => value.set(wrong('1')), 'Variable "v": found "1"'],
      [() => value.set(wrong(undefined)), 'Variable "v": found nothing'],
      [() => value.add(wrong(null)), 'Variable "v": found nothing to add'],
    ];
    for (const [call, message] of calls) expect(call, message).to.throw(RangeError, message);
    expect(segments.bytes('82').subarray(4096).equals(before), 'untouched').to.equal(true);
  });
});
