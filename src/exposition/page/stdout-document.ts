// The document of one target that stdout mode prints at a tick, as text or as JSON lines.
import type {
  Document,
  Exposition,
  FamilyText,
  InternalMetric,
  ReadyExposition,
  TargetStatus,
} from '../../model.js';
import { ShortFamily } from '../text/family-text.js';
import { labelsText, numberText, seriesText } from '../text/text-syntax.js';
import { familiesOf } from './scope.js';
import { TEXT, notReadyText } from './text-page.js';

/** Makes the document of one target. The metrics of the sink come last. */
export type MakeDocument = (
  exposition: Exposition,
  time: Date,
  ofSink?: readonly InternalMetric[],
) => Document;

/** A comment line with target and time, the text, and an end mark. */
export const textDocument: MakeDocument = (exposition, time, ofSink = []) => {
  const header = `# snapshot ${identity(exposition.status)} time=${time.toISOString()}`;
  if (exposition.kind === 'waiting')
    return oneLine(comment(`${header} ${notReadyText(exposition.status.progress)}`));
  const { buffers, release } = TEXT.page(withMetrics(exposition, ofSink));
  return { buffers: [Buffer.from(comment(header)), ...buffers, END], release };
};

/** A line break in a name would end the comment, and a parser would read the rest as a series. */
const comment = (text: string): string => `${text.replace(/\s*[\r\n]\s*/g, ' ')}\n`;

const END = Buffer.from('# EOF\n');

/** One JSON object per series; one object with the reason if the target is not ready. */
export const jsonDocument: MakeDocument = (exposition, time, ofSink = []) => {
  const { app, serverKey, root } = exposition.status;
  const common = { time: time.toISOString(), app, server_key: serverKey, root };
  if (exposition.kind === 'waiting') {
    const reason = notReadyText(exposition.status.progress);
    return oneLine(`${JSON.stringify({ ...common, ready: false, reason })}\n`);
  }
  const { snapshot, internal } = withMetrics(exposition, ofSink);
  const start = JSON.stringify(common).slice(0, -1);
  return {
    buffers: jsonBuffers([...familiesOf(exposition), ...internal], start),
    release: snapshot.hold(),
  };
};

const identity = ({ app, serverKey, root }: TargetStatus): string =>
  `app=${app} server_key=${serverKey} root=${root}`;

const oneLine = (text: string): Document => ({
  buffers: [Buffer.from(text)],
  release: () => undefined,
});

const withMetrics = (
  exposition: ReadyExposition,
  metrics: readonly InternalMetric[],
): ReadyExposition => ({
  ...exposition,
  internal: [...exposition.internal, ...metrics.map(internalFamily)],
});

function internalFamily({ name, type, help, value, labels = {} }: InternalMetric): FamilyText {
  const line = `${seriesText(name, labelsText(labels))} ${numberText(value)}\n`;
  return new ShortFamily({ name, type, help, unit: '' }, line);
}

/** Small enough to build in a few milliseconds, large enough to be worth a write. */
const BUFFER_CHARACTERS = 131_072;

/** Builds each buffer when the writer reads it, so that memory never holds a large document. */
function* jsonBuffers(families: readonly FamilyText[], start: string): Generator<Uint8Array> {
  let text = '';
  for (const family of families) {
    const type = JSON.stringify(family.metadata.type);
    for (const { name, labels, value } of family.samples()) {
      text += `${start},"name":${JSON.stringify(name)},"type":${type},"labels":${JSON.stringify(labels)},"value":${jsonValue(value)}}\n`;
      if (text.length < BUFFER_CHARACTERS) continue;
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

/** A number in JSON. Its digits are copied, so that 64-bit integers stay exact. */
const jsonValue = (text: string): string => (/^-?\d/.test(text) ? text : JSON.stringify(text));
