// Prints the measurements of the bridge: one row for each figure, one column for each way to poll a component.
const ROWS = [
  ['series on the page', ({ series, wrong }) => `${series}${wrong > 0 ? `, ${wrong} WRONG` : ''}`],
  ['polls', ({ polls }) => polls],
  ['values changed, objects added a poll', ({ changed, added }) => whole(changed, added)],
  ['body, over the wire (MB)', ({ bodyMb, receivedMb }) => tenths(bodyMb, receivedMb)],
  ['of a core', ({ cpu }) => cpu.toFixed(3)],
  ['poll, median, most (ms)', ({ pollMs }) => spread(pollMs)],
  ['store, median, most (ms)', ({ storeMs }) => spread(storeMs)],
  ['longest hold in a poll, median, most (ms)', ({ holdMs }) => spread(holdMs)],
  [
    'first poll, store, longest hold (ms)',
    ({ first: { pollMs, storeMs, holdMs } }) => whole(pollMs, storeMs, holdMs),
  ],
  ['processor time of the first poll (ms)', ({ first }) => whole(first.cpuMs)],
  [
    'resident at the start, segment (MB)',
    ({ memory }) => whole(memory.start.own, memory.start.segment),
  ],
  ['resident at the end, segment (MB)', ({ memory }) => whole(memory.end.own, memory.end.segment)],
  ['resident at most (MB)', ({ memory }) => whole(memory.end.peak)],
  ['scrape without a bridge, p50, p99 (ms)', ({ alone }) => latency(alone)],
  ['scrape of the direct one, p50, p99 (ms)', ({ direct }) => latency(direct)],
  ['scrape of the bridged one, p50, p99 (ms)', ({ bridged }) => latency(bridged)],
  [
    'bridged / direct',
    ({ bridged, direct }) => hundredths(bridged.p50 / direct.p50, bridged.p99 / direct.p99),
  ],
];

const fixed =
  (digits) =>
  (...list) =>
    list.map((number) => number.toFixed(digits)).join(', ');
const [whole, tenths, hundredths] = [fixed(0), fixed(1), fixed(2)];
const spread = ({ median, most }) => whole(median, most);
const latency = ({ p50, p99 }) => tenths(p50, p99);

export function bridgeTable(columns) {
  const line = (name, texts) =>
    `${name.padEnd(44)}${texts.map((text) => String(text).padStart(18)).join('')}`;
  const head = line(
    '',
    columns.map(({ way }) => way),
  );
  return [head, ...ROWS.map(([name, text]) => line(name, columns.map(text)))];
}
