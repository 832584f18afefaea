// The document of one target that the stdout sink prints at each interval, as text or as JSON lines.
import type {
  Document,
  DemandAnswer,
  FamilyLines,
  InternalMetric,
  ReadyAnswer,
  Snapshot,
  TargetStatus,
} from '../../model.js';
import { sampleText, samplesIn, textOf } from '../text/text-syntax.js';
import { TEXT, notReadyText, textBuffers, textLines } from './text-page.js';

/** Makes the document of one target. The metrics about the sink itself come last. */
export type MakeDocument = (
  answer: DemandAnswer,
  time: Date,
  ofSink?: readonly InternalMetric[],
) => Document;

/** Writes a comment line with the target and the time, then the text, then an end mark. */
export const textDocument: MakeDocument = (answer, time, ofSink = []) => {
  const header = `# snapshot ${identity(answer.status)} time=${time.toISOString()}`;
  if (answer.kind === 'waiting')
    return oneLine(comment(`${header} ${notReadyText(answer.status.progress)}`));
  const { buffers, release } = TEXT.page(withMetrics(answer, ofSink));
  return { buffers: [Buffer.from(comment(header)), ...buffers, END], release };
};

/** A line break in a name would end the comment, and a parser would read the rest as a series. */
const comment = (text: string): string => `${text.replace(/\s*[\r\n]\s*/g, ' ')}\n`;

const END = Buffer.from('# EOF\n');

/** Writes one JSON object per series. If the target is not ready, writes one object with the reason. */
export const jsonDocument: MakeDocument = (answer, time, ofSink = []) => {
  const { app, serverKey, root } = answer.status;
  const common = { time: time.toISOString(), app, server_key: serverKey, root };
  if (answer.kind === 'waiting') {
    const reason = notReadyText(answer.status.progress);
    return oneLine(`${JSON.stringify({ ...common, ready: false, reason })}\n`);
  }
  const { snapshot, internal } = withMetrics(answer, ofSink);
  const start = JSON.stringify(common).slice(0, -1);
  return {
    buffers: textBuffers(jsonLines(textsOf(snapshot, internal), start)),
    release: snapshot.hold(),
  };
};

const identity = ({ app, serverKey, root }: TargetStatus): string =>
  `app=${app} server_key=${serverKey} root=${root}`;

const oneLine = (text: string): Document => ({
  buffers: [Buffer.from(text)],
  release: () => undefined,
});

const withMetrics = (answer: ReadyAnswer, metrics: readonly InternalMetric[]): ReadyAnswer => ({
  ...answer,
  internal: [...answer.internal, ...metrics.map(internalFamily)],
});

function internalFamily(metric: InternalMetric): FamilyLines {
  const { name, type, help } = metric;
  return { metadata: { name, type, help, unit: '' }, text: sampleText(metric) };
}

/** The text of each piece of a snapshot, then the internal metrics. */
function* textsOf(snapshot: Snapshot, internal: readonly FamilyLines[]): Generator<FamilyLines> {
  for (const piece of textLines(snapshot)) yield { metadata: piece.family, text: textOf(piece) };
  yield* internal;
}

function* jsonLines(families: Iterable<FamilyLines>, start: string): Generator<string> {
  for (const family of families) {
    const type = JSON.stringify(family.metadata.type);
    for (const { name, labels, value } of samplesIn(family.text))
      yield `${start},"name":${JSON.stringify(name)},"type":${type},"labels":${JSON.stringify(labels)},"value":${jsonValue(value)}}\n`;
  }
}

/** A number in JSON. Its digits are copied, so that 64-bit integers stay exact. */
const jsonValue = (text: string): string => (/^-?\d/.test(text) ? text : JSON.stringify(text));
