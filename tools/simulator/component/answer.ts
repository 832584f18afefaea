// One answer of a component: status, headers and body, independent of a connection.
import { promisify } from 'node:util';
import { deflate, deflateRaw, gzip } from 'node:zlib';
import type { Compression } from './component-options.js';

export interface Answer {
  readonly status: number;
  /** Without those for the length of the body and the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const plainAnswer = (
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain' },
): Answer => ({ status, headers, body: Buffer.from(text) });

export const NO_CONTENT: Answer = { status: 204, headers: {}, body: Buffer.alloc(0) };

const COMPRESSIONS = {
  zlib: { encoding: 'deflate', compress: promisify<Buffer, Buffer>(deflate) },
  raw: { encoding: 'deflate', compress: promisify<Buffer, Buffer>(deflateRaw) },
  gzip: { encoding: 'gzip', compress: promisify<Buffer, Buffer>(gzip) },
} as const;

export async function compressed(answer: Answer, compression: Compression): Promise<Answer> {
  const { encoding, compress } = COMPRESSIONS[compression];
  const headers = { ...answer.headers, 'Content-Encoding': encoding };
  return { ...answer, headers, body: await compress(answer.body) };
}

/** True if an Accept-Encoding allows deflate. */
export const acceptsDeflate = (header: string | undefined): boolean =>
  (header ?? '')
    .split(',')
    .some((each) => /^\s*deflate\s*(;|$)/i.test(each) && !/;\s*q=0(\.0*)?\s*$/i.test(each));
