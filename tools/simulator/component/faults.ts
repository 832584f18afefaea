// The faults of a component by name: each gives a wrong or late answer.
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, createDeflate } from 'node:zlib';
import { NO_CONTENT, plainAnswer } from './answer.js';
import type { Answer } from './answer.js';
import type { Component } from './component.js';
import { cut, drip, headersOnly, longLength, shortLength } from './broken-transfers.js';
import type { FaultyAnswer } from './faulty-answer.js';
import { otherRun } from './other-run.js';
import { vendorJson } from './vendor-json.js';
import {
  LOGIN_PAGE,
  brokenTextBody,
  deepBody,
  hugeBody,
  manyObjects,
  nanBody,
} from './wrong-bodies.js';

/** The target of redirections, which gives the right answers too. */
const MOVED = '/moved';

/** Answers with a body of its own, labelled as JSON. */
const bodyOf =
  (bytes: (component: Component) => string | Buffer): FaultyAnswer =>
  (exchange, component) => {
    exchange.send({ ...jsonHead(component), body: Buffer.from(bytes(component)) });
  };

const jsonHead = ({ options }: Component): Pick<Answer, 'status' | 'headers'> => ({
  status: 200,
  headers: { 'Content-Type': options.contentType },
});

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
  /** Does not listen; the listener implements it, and `reset`. */
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
  cut,
  headers_only: headersOnly,
  short_length: shortLength,
  long_length: longLength,
  no_content: (exchange) => {
    exchange.send(NO_CONTENT);
  },
  /** Redirects to another path, which gives the right answer. */
  redirect: async (exchange, component, { follow }) => {
    const { method, url = '', headers } = exchange.request;
    if (url.startsWith(MOVED)) {
      follow();
      exchange.send(await component.answer({ method, url: url.slice(MOVED.length), headers }));
    } else exchange.send(plainAnswer(301, 'Moved\n', { Location: `${MOVED}${url}` }));
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
  /** The first root without the array. */
  object: bodyOf((component) => {
    const [root] = component.roots();
    return root === undefined ? '{}' : vendorJson(root);
  }),
  /** An array of other values than objects. */
  scalars: bodyOf(() => '[1,2,3]'),
  /** 100 MB. */
  huge: (exchange, component) => exchange.stream(jsonHead(component), Readable.from(hugeBody())),
  /** 100 MB once inflated. */
  huge_deflate: (exchange, component) => {
    const { status: code, headers } = jsonHead(component);
    const head = { status: code, headers: { ...headers, 'Content-Encoding': 'deflate' } };
    return exchange.stream(head, Readable.from(hugeBody()), createDeflate());
  },
  /** A zlib header, then a block of a type that does not exist. */
  bad_deflate: (exchange, component) => {
    const { status: code, headers } = jsonHead(component);
    const bytes = Buffer.alloc(1000, 0xff);
    bytes.writeUInt16BE(0x789c);
    exchange.send({
      status: code,
      headers: { ...headers, 'Content-Encoding': 'deflate' },
      body: bytes,
    });
  },
  /** 10,000 levels. */
  deep: bodyOf(deepBody),
  /** 200,000 objects. */
  many_objects: (exchange, component) =>
    exchange.stream(jsonHead(component), Readable.from(manyObjects())),
  bad_utf8: bodyOf((component) => brokenTextBody(firstId(component))),
  nan: bodyOf((component) => nanBody(firstId(component))),
  /** Has more text after the array. */
  trailing: bodyOf((component) => `${component.text(component.roots())}]trailing`),
  /** The right answer, late. */
  slow: async (exchange, component) => {
    await exchange.pause(component.options.slowMs);
    exchange.send(await component.answer(exchange.request));
  },
  /** Alternates between this component and another at the same address. */
  other_component: async (exchange, component, { turn }) => {
    const roots = component.roots();
    const shown = turn % 2 === 0 ? roots : roots.map(otherRun);
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
