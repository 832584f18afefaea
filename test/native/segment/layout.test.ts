// Tests the layout of records, and compares it byte for byte with docs/segment-format.md.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { OBJECT_STATES } from '#app/model.js';
import { VALUE_TYPES } from '#app/published.js';
import {
  BYTE_ORDER,
  FEATURE,
  HEADER,
  LIMITS,
  MAGIC,
  MAJOR,
  MUTABLE,
  MUTABLE_OFFSET,
  PAGE,
  RECORD,
  RECORD_KIND,
  SEGMENT_STATE,
  VARIABLE_FLAG,
  VARIABLE_KINDS,
  frameWords,
  record,
} from '#app/native/segment/layout.js';
import { MAX_LABELS } from '#app/native/segment/series-name.js';

const page = readFileSync('docs/segment-format.md', 'utf8');

/** Returns the cells of the table whose first row is `heading`. */
function table(heading: string): string[][] {
  const lines = page.slice(page.indexOf(`\n${heading}\n`) + 1).split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  const rows = lines.slice(2, end).map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.map((cells) => cells.slice(1, -1));
}

/** Returns the number that `what` captures on the page. */
function stated(what: RegExp): number {
  const [, digits = ''] = what.exec(page) ?? [];
  return Number(digits.replaceAll(',', ''));
}

const HEADER_FIELDS: Readonly<Record<string, keyof typeof HEADER>> = {
  ...{ magic: 'magic', 'byte order': 'byteOrder', major: 'major', minor: 'minor' },
  ...{ 'header size': 'headerSize', 'record size': 'recordSize', generation: 'generation' },
  ...{ 'required features': 'requiredFeatures', 'optional features': 'optionalFeatures' },
  ...{ 'started, real time': 'startedRealtimeNs', 'started, monotonic': 'startedMonotonicNs' },
  ...{ pid: 'pid', 'heartbeat period': 'heartbeatPeriodNs', 'file size': 'fileSize' },
  ...{ 'directory A': 'directoryA', 'directory B': 'directoryB', 'strings A': 'stringsA' },
  ...{ 'strings B': 'stringsB', 'record capacity': 'recordCapacity', words: 'words' },
  ...{ 'string capacity': 'stringCapacity', slots: 'slots', 'slot capacity': 'slotCapacity' },
  ...{ frames: 'frames', 'frame capacity': 'frameCapacity', reserved: 'reserved', crc: 'crc' },
};

const WORDS: Readonly<Record<string, keyof typeof MUTABLE>> = {
  ...{
    state: 'state',
    heartbeat: 'heartbeatNs',
    notifications: 'notifications',
    directory: 'directory',
  },
  ...{ 'string bytes A': 'stringBytesA', 'string bytes B': 'stringBytesB' },
  ...{ 'objects dropped': 'objectsDropped', 'variables dropped': 'variablesDropped' },
};

const RECORD_FIELDS = [
  ...['crc', 'index', 'recordKind', 'type', 'kind', 'flags', 'slot', 'id', 'owner'],
  ...['incarnation', 'name', 'text1', 'text2', 'text3', 'text4', 'extra1', 'extra2'],
] as const;

describe('A record layout', () => {
  it('has no gaps between fields', () =>
    expect(record(12, { a: 4, b: 8 })).to.deep.equal({ a: 0, b: 4, size: 12 }));
  for (const [size, sum, widths] of [
    [8, 4, { a: 4 }],
    [4, 5, { a: 4, b: 1 }],
    [1, 0, {}],
  ] as const)
    it(`is refused if its fields have ${sum} bytes and its size is ${size}`, () =>
      expect(() => record(size, widths)).to.throw(RangeError, `declared ${size}`));
});

describe('docs/segment-format.md (segment format, section 11)', () => {
  const headerRows = table('| Offset | Size | Field | Meaning |');
  for (const [offset, size, field = ''] of headerRows)
    it(`gives the correct offset ${offset ?? ''} and size of header field "${field}"`, () => {
      const name = HEADER_FIELDS[field] ?? 'size';
      expect(HEADER[name]).to.equal(Number(offset));
      const later = Object.values(HEADER).filter((at) => at > HEADER[name]);
      expect(Math.min(...later) - HEADER[name], 'size').to.equal(Number(size));
    });
  it('lists every field of the header', () =>
    expect(headerRows.map(([, , field]) => field)).to.have.members(Object.keys(HEADER_FIELDS)));

  const words = table('| Offset | Word | Meaning |');
  for (const [offset, word = ''] of words)
    it(`gives the correct offset ${offset ?? ''} of the word "${word}"`, () =>
      expect(MUTABLE_OFFSET + MUTABLE[WORDS[word] ?? 'size']).to.equal(Number(offset)));
  it('lists every word', () =>
    expect(words.map(([, word]) => word)).to.have.members(Object.keys(WORDS)));

  it('gives the correct offset and size of every field of a directory record', () => {
    const heading = '| Offset | Size | Object (kind 1) | Variable (kind 2) | Tombstone (kind 3) |';
    const rows = table(heading).map(([offset, size]) => [Number(offset), Number(size)]);
    const ends = [...RECORD_FIELDS.slice(1).map((field) => RECORD[field]), RECORD.size];
    const fields = RECORD_FIELDS.map((field, index) => [
      RECORD[field],
      (ends[index] ?? 0) - RECORD[field],
    ]);
    expect(rows).to.deep.equal(fields);
  });

  it('gives the correct constants', () => {
    const [, bytes = ''] = /the bytes `SHMEXP\\r\\n` \(([0-9a-f ]+)\)/.exec(page) ?? [];
    expect(MAGIC.toString('hex')).to.equal(bytes.replaceAll(' ', ''));
    expect(stated(/byte order \| (0x\d+)/)).to.equal(BYTE_ORDER);
    expect(stated(/major \| (\d+)/)).to.equal(MAJOR);
    expect(stated(/header size \| (\d+)/)).to.equal(PAGE);
    expect(stated(/record size \| (\d+)/)).to.equal(RECORD.size);
    expect(crc32('123456789')).to.equal(stated(/`123456789` is (0x[0-9A-F]+)/));
  });

  it('gives the correct limits', () => {
    expect(stated(/each directory can hold, at most ([\d,]+)/)).to.equal(LIMITS.records);
    expect(stated(/each string region, at most ([\d,]+)/)).to.equal(LIMITS.stringRegionBytes);
    expect(stated(/number of slots, at most ([\d,]+)/)).to.equal(LIMITS.slots);
    expect(stated(/a multiple of 8, at most ([\d,]+)/)).to.equal(LIMITS.frameRegionBytes);
    expect(stated(/variable names: at most ([\d,]+) bytes/)).to.equal(LIMITS.nameBytes);
    expect(stated(/name with the flag `series`: at most ([\d,]+)/)).to.equal(LIMITS.seriesBytes);
    expect(stated(/Help: at most ([\d,]+)/)).to.equal(LIMITS.helpBytes);
    expect(stated(/never more than ([\d,]+)/)).to.equal(LIMITS.textBytes);
    expect(stated(/At most (\d+) entries/)).to.equal(LIMITS.schemaEntries);
    expect(stated(/path from a root downwards has at most (\d+) objects/)).to.equal(LIMITS.depth);
  });

  it('gives the correct numbers of types, kinds and states', () => {
    const [, types = ''] = /\*\*Types\*\*: ([^;]*?)\.$/m.exec(page) ?? [];
    const rows = Object.entries(VALUE_TYPES).map(([type, { number }]) => `${number} ${type}`);
    expect(types.replaceAll(/ \([^)]*\)/g, '')).to.equal(rows.join(', '));
    const kinds = VARIABLE_KINDS.map((kind, number) => `${number} ${kind}`).join(', ');
    expect(page).to.include(`**Kinds**: ${kinds};`);
    expect(page).to.include(`**Flags**: ${VARIABLE_FLAG.series} series`);
    expect(page).to.include(`| required features | ${FEATURE.series} series`);
    expect(stated(/at most (\d+) labels/)).to.equal(MAX_LABELS);
    const states = OBJECT_STATES.map((state, number) => `${number} ${state}`).join(', ');
    expect(page).to.include(`its state: ${states} |`);
    expect(page).to.include('| state | 0 building, 1 live, 2 closed cleanly, 3 superseded');
    expect(Object.values(SEGMENT_STATE)).to.deep.equal([0, 1, 2, 3]);
    expect(page).to.include('| Object (kind 1) | Variable (kind 2) | Tombstone (kind 3) |');
    expect(Object.values(RECORD_KIND)).to.deep.equal([1, 2, 3]);
  });

  it('gives the correct lengths of frames', () => {
    const lengths = table('| Type | Units in order | Length |').map(([type, , length]) => [
      type,
      length,
    ]);
    expect(lengths).to.deep.equal([
      ['string', '3 + capacity / 8'],
      ['histogram', '4 + bounds'],
      ['summary', '4 + quantiles'],
    ]);
    expect([0, 1, 8, 9].map((size) => frameWords('string', size))).to.deep.equal([3, 4, 4, 5]);
    expect([0, 3].map((size) => frameWords('histogram', size))).to.deep.equal([4, 7]);
    expect([0, 3].map((size) => frameWords('summary', size))).to.deep.equal([4, 7]);
  });
});
