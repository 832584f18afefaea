// What stdout mode prints at a tick: one document a target, as text or as JSON lines.
import type { Exposition, Page, TargetStatus } from '../../model.js';
import { notReadyText } from './not-ready-text.js';
import { TEXT } from './text-format.js';

/** A comment line that names target and time, the text, and an end mark. */
export function textDocument(exposition: Exposition, time: Date): Page {
  const head = `# snapshot ${identity(exposition.status)} time=${time.toISOString()}`;
  if (exposition.kind === 'waiting')
    return plainPage(comment(`${head} ${notReadyText(exposition.status.progress)}`));
  const page = TEXT.page(exposition);
  const start = Buffer.from(comment(head));
  const pieces = [start, ...page.pieces, END];
  const bytes = page.bytes + start.length + END.length;
  // It begins with the time.
  return { ...page, pieces, bytes, lasting: [] };
}

/** A line break in a name would end the comment, and what follows it would pass for a series. */
const comment = (text: string): string => `${text.replace(/\s*[\r\n]\s*/g, ' ')}\n`;

const END = Buffer.from('# EOF\n');

/** One JSON object a series; a target that is not ready is one object with the reason. */
export function jsonDocument(exposition: Exposition, time: Date): Page {
  const { app, serverKey, root } = exposition.status;
  const common = { time: time.toISOString(), app, server_key: serverKey, root };
  if (exposition.kind === 'waiting') {
    const reason = notReadyText(exposition.status.progress);
    return plainPage(`${JSON.stringify({ ...common, ready: false, reason })}\n`);
  }
  const { families, internal } = exposition;
  const start = JSON.stringify(common).slice(0, -1);
  const lines: Uint8Array[] = [];
  for (const { facts, pieces } of [...families, ...internal])
    for (const piece of pieces)
      lines.push(Buffer.from(jsonLines(Buffer.from(piece).toString('utf8'), facts.type, start)));
  return {
    contentType: 'application/x-ndjson',
    pieces: lines,
    bytes: lines.reduce((sum, line) => sum + line.length, 0),
    release: () => undefined,
  };
}

const identity = ({ app, serverKey, root }: TargetStatus): string =>
  `app=${app} server_key=${serverKey} root=${root}`;

function plainPage(text: string): Page {
  const piece = Buffer.from(text);
  const release = () => undefined;
  return { contentType: 'text/plain', pieces: [piece], bytes: piece.length, release };
}

/** A number as JSON has it: digits stay as they are, so that 64-bit integers are exact. */
const jsonValue = (text: string): string => (/^-?\d/.test(text) ? text : JSON.stringify(text));

function jsonLines(text: string, type: string, start: string): string {
  let result = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const blank = line.lastIndexOf(' ');
    const brace = line.indexOf('{');
    const isLabelled = brace >= 0 && brace < blank;
    const name = line.slice(0, isLabelled ? brace : blank);
    const labels = isLabelled ? labelsOf(line.slice(brace + 1, blank - 1)) : {};
    const value = jsonValue(line.slice(blank + 1));
    result += `${start},"name":"${name}","type":"${type}","labels":${JSON.stringify(labels)},"value":${value}}\n`;
  }
  return result;
}

/** The labels of a series line, unescaped. */
function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, key = '', value = ''] of text.matchAll(/([A-Za-z0-9_]+)="((?:[^"\\]|\\.)*)"/g))
    labels[key] = value.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));
  return labels;
}
