// The faults of a component by name. Each sends a wrong answer, a late answer, or none.
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, createDeflate } from 'node:zlib';
import { NO_CONTENT, plainAnswer } from './component.js';
import type { HttpAnswer, Component, HttpExchange } from './component.js';
import { oddJson, otherRun } from './odd-json.js';

/** @param earlier the number of answers that had this fault before */
type FaultyAnswer = (
  exchange: HttpExchange,
  component: Component,
  earlier: number,
) => Promise<void> | void;

const EXCESS_AFTER_MS = 50;

/** Sends the head, then single bytes with a pause between them. */
const drip: FaultyAnswer = async (exchange, component) => {
  const answer = await component.answer(exchange.request);
  exchange.head(answer, answer.body.length);
  for (const byte of answer.body) {
    await exchange.pause(component.options.dripMs);
    exchange.response.write(Buffer.of(byte));
  }
  exchange.response.end();
};

/**
 * Sends this share of the body and closes the connection. The declared length exceeds the body's length by
 * `excess` bytes.
 */
const truncated =
  (share: number, excess = 0): FaultyAnswer =>
  async (exchange, component) => {
    const answer = await component.answer(exchange.request);
    exchange.head(answer, answer.body.length + excess);
    exchange.hangUpAfter(answer.body.subarray(0, Math.floor(answer.body.length * share)));
  };

/**
 * Declares half of the body's length. Sends the second half after the client has accepted the first half as
 * the complete body.
 */
const shortLength: FaultyAnswer = async (exchange, component) => {
  const { body, ...head } = await component.answer(exchange.request);
  const half = Math.floor(body.length / 2);
  exchange.head(head, half);
  exchange.response.write(body.subarray(0, half));
  await exchange.pause(EXCESS_AFTER_MS);
  exchange.hangUpAfter(body.subarray(half));
};

const LOGIN_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n' +
  '<body><form action="/login" method="post"><input name="user"></form></body></html>\n';

const HUGE_BYTES = 100 * 2 ** 20;
const LEVELS = 10_000;
const OBJECTS = 200_000;
const OBJECTS_PER_CHUNK = 1000;

const head = (id: string): string => `{"Instance":${JSON.stringify(id)},"Class":"Filler",`;

/** 100 MB of valid JSON: one object with the same variable repeated many times. */
function* hugeBody(): Generator<Buffer> {
  yield Buffer.from(`[${head('huge.1.adh')}"Children":[],"Variables":[`);
  const chunk = Buffer.from('{"Name":"filler","Type":"Numeric","Value":1},'.repeat(1000));
  for (let bytes = 0; bytes < HUGE_BYTES; bytes += chunk.length) yield chunk;
  yield Buffer.from('{"Name":"last","Type":"Numeric","Value":1}]}]');
}

/** One root with 200,000 children. */
function* manyObjects(): Generator<string> {
  yield `[${head('many.1.adh')}"Variables":[],"Children":[`;
  for (let first = 0; first < OBJECTS - 1; first += OBJECTS_PER_CHUNK) {
    const count = Math.min(OBJECTS_PER_CHUNK, OBJECTS - 1 - first);
    const objects = Array.from(
      { length: count },
      (_, n) => `${head(`many.1.adh.${first + n}`)}"Variables":[],"Children":[]}`,
    );
    yield `${first === 0 ? '' : ','}${objects.join(',')}`;
  }
  yield ']}]';
}

/** 10,000 objects, each the only child of the one before. */
function deepBody(): string {
  const heads = Array.from(
    { length: LEVELS },
    (_, level) => `${head(`deep.1.adh.${level}`)}"Variables":[],"Children":[`,
  );
  return `[${heads.join('')}${']}'.repeat(LEVELS)}]`;
}

/** A number that JSON cannot represent. */
const nanBody = (id: string): string =>
  `[${head(id)}"Variables":[{"Name":"load","Type":"Numeric","Value":NaN}],"Children":[]}]`;

/** A text that is not UTF-8, because it ends in an incomplete character. */
const brokenTextBody = (id: string): Buffer =>
  Buffer.concat([
    Buffer.from(`[${head(id)}"Variables":[{"Name":"name","Type":"String","Value":"Z`),
    Buffer.from([0xc3]),
    Buffer.from('rich"}],"Children":[]}]'),
  ]);

/** The path to which the fault `redirect` redirects. The correct answers are there. */
const MOVED = '/moved';

/** Answers with these bytes, labelled as JSON. */
const bodyOf =
  (bytes: (component: Component) => string | Buffer): FaultyAnswer =>
  (exchange, component) => {
    exchange.send({ ...jsonHead(component), body: Buffer.from(bytes(component)) });
  };

const jsonHead = (
  { options }: Component,
  headers: HttpAnswer['headers'] = {},
): Pick<HttpAnswer, 'status' | 'headers'> => ({
  status: 200,
  headers: { 'Content-Type': options.contentType, ...headers },
});

const DEFLATE = { 'Content-Encoding': 'deflate' };

/** Answers with a status and a line of text. */
const status =
  (code: number, text: string): FaultyAnswer =>
  (exchange) => {
    exchange.send(plainAnswer(code, `${text}\n`));
  };

const page =
  (contentType: string): FaultyAnswer =>
  (exchange) => {
    exchange.send(plainAnswer(200, LOGIN_PAGE, { 'Content-Type': contentType }));
  };

const firstId = (component: Component): string => component.roots()[0]?.Instance ?? 'host.1.adh';
const brotli = promisify<Buffer, Buffer>(brotliCompress);

export const FAULTS = {
  /** The component does not listen. `TestComponent` itself implements this fault and `reset`. */
  refuse: (exchange) => {
    exchange.drop();
  },
  /** Accepts a connection and resets it. */
  reset: (exchange) => {
    exchange.drop();
  },
  /** Never answers. */
  hang: () => undefined,
  drip,
  cut: truncated(0.5),
  headers_only: truncated(0),
  short_length: shortLength,
  long_length: truncated(1, 100),
  no_content: (exchange) => {
    exchange.send(NO_CONTENT);
  },
  /** Redirects to another path, which gives the correct answer. */
  redirect: async (exchange, component) => {
    const { method, url = '', headers } = exchange.request;
    exchange.send(
      url.startsWith(MOVED)
        ? await component.answer({ method, url: url.slice(MOVED.length), headers })
        : plainAnswer(301, 'Moved\n', { Location: `${MOVED}${url}` }),
    );
  },
  unauthorized: status(401, 'Unauthorized'),
  forbidden: status(403, 'Forbidden'),
  not_found: status(404, 'Not Found'),
  server_error: status(500, 'Internal Server Error'),
  /** A login page. */
  html: page('text/html; charset=utf-8'),
  /** A login page labelled as JSON. */
  html_as_json: page('application/json'),
  empty: bodyOf(() => ''),
  empty_array: bodyOf(() => '[]'),
  null: bodyOf(() => 'null'),
  /** The first root as an object, without an array around it. */
  object: bodyOf((component) => {
    const [root] = component.roots();
    return root === undefined ? '{}' : oddJson(root);
  }),
  /** An array of numbers instead of objects. */
  scalars: bodyOf(() => '[1,2,3]'),
  /** 100 MB. */
  huge: (exchange, component) => exchange.stream(jsonHead(component), Readable.from(hugeBody())),
  /** 100 MB once inflated. */
  huge_deflate: (exchange, component) =>
    exchange.stream(jsonHead(component, DEFLATE), Readable.from(hugeBody()), createDeflate()),
  /** A zlib header, followed by a deflate block of an invalid type. */
  bad_deflate: (exchange, component) => {
    const body = Buffer.alloc(1000, 0xff);
    body.writeUInt16BE(0x789c);
    exchange.send({ ...jsonHead(component, DEFLATE), body });
  },
  /** 10,000 levels. */
  deep: bodyOf(deepBody),
  /** 200,000 objects. */
  many_objects: (exchange, component) =>
    exchange.stream(jsonHead(component), Readable.from(manyObjects())),
  bad_utf8: bodyOf((component) => brokenTextBody(firstId(component))),
  nan: bodyOf((component) => nanBody(firstId(component))),
  /** Sends more text after the array. */
  trailing: bodyOf((component) => `${component.text(component.roots())}]trailing`),
  /** The correct answer, late. */
  slow: async (exchange, component) => {
    await exchange.pause(component.options.slowMs);
    exchange.send(await component.answer(exchange.request));
  },
  /** Answers alternately as this component and as another one at the same address. */
  other_component: async (exchange, component, earlier) => {
    const roots = component.roots();
    const shown = earlier % 2 === 0 ? roots : roots.map(otherRun);
    exchange.send(await component.answer(exchange.request, shown));
  },
  /** An encoding that the client did not request. */
  unknown_encoding: async (exchange, component) => {
    const { method, url = '', headers } = exchange.request;
    const plain = { ...headers, 'accept-encoding': 'identity' };
    const answer = await component.answer({ method, url, headers: plain });
    exchange.send({
      ...answer,
      headers: { ...answer.headers, 'Content-Encoding': 'br' },
      body: await brotli(answer.body),
    });
  },
} as const satisfies Record<string, FaultyAnswer>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];
