// A component's answers without faults.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflate, deflateRaw, gzip } from 'node:zlib';
import { identity } from 'rxjs';
import { Fault, messageOf } from '#app/errors.js';
import type { PlannedInstance, PlannedVariable } from '../tree-plan.js';
import { OddWays } from './oddities.js';
import type { OddityName } from './oddities.js';
import { STATE_TEXTS, vendorObject } from './served-tree.js';
import type { ServedTree, VendorObject } from './served-tree.js';

// How a component answers: its address, its key, and the options of the protocol.
export interface ComponentOptions {
  /** Path before `/sharedmem`, such as `/rtds`. Default empty. */
  readonly base?: string;
  /** Required value of the header Security-Key. Default: none is required. */
  readonly securityKey?: string | undefined;
  /** Status for requests without the key. Default 401. */
  readonly refusalStatus?: 401 | 403;
  /** PEM texts; with them it serves HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Encoding for clients that accept deflate: zlib-wrapped, raw deflate or gzip. Default zlib. */
  readonly compression?: Compression;
  /** Chunks in place of a Content-Length. Default false. */
  readonly isChunked?: boolean;
  /** Keeps connections open for further requests. Default false. */
  readonly keepsAlive?: boolean;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Delay before every answer. Default 0. */
  readonly latencyMs?: number;
  /** Delay of the fault `slow`. Default 4000. */
  readonly slowMs?: number;
  /** Delay between two bytes of the fault `drip`. Default 200. */
  readonly dripMs?: number;
  /** Default none. */
  readonly oddities?: Iterable<OddityName>;
}

type Compression = 'zlib' | 'raw' | 'gzip';

export const DEFAULTS = {
  base: '',
  securityKey: undefined,
  refusalStatus: 401,
  tls: undefined,
  compression: 'zlib',
  isChunked: false,
  keepsAlive: false,
  contentType: 'application/json',
  latencyMs: 0,
  slowMs: 4000,
  dripMs: 200,
  oddities: [],
} as const satisfies Required<ComponentOptions>;

// One answer of a component: status, headers and body, independent of a connection.
export interface HttpAnswer {
  readonly status: number;
  /** Without those for the length of the body and the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const plainAnswer = (
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain' },
): HttpAnswer => ({ status, headers, body: Buffer.from(text) });

export const NO_CONTENT: HttpAnswer = { status: 204, headers: {}, body: Buffer.alloc(0) };

const COMPRESSIONS = {
  zlib: { encoding: 'deflate', compress: promisify<Buffer, Buffer>(deflate) },
  raw: { encoding: 'deflate', compress: promisify<Buffer, Buffer>(deflateRaw) },
  gzip: { encoding: 'gzip', compress: promisify<Buffer, Buffer>(gzip) },
} as const;

async function compressed(answer: HttpAnswer, compression: Compression): Promise<HttpAnswer> {
  const { encoding, compress } = COMPRESSIONS[compression];
  const headers = { ...answer.headers, 'Content-Encoding': encoding };
  return { ...answer, headers, body: await compress(answer.body) };
}

/** True if an Accept-Encoding allows deflate. */
const acceptsDeflate = (header: string | undefined): boolean =>
  (header ?? '')
    .split(',')
    .some((each) => /^\s*deflate\s*(;|$)/i.test(each) && !/;\s*q=0(\.0*)?\s*$/i.test(each));

/** A list is an array in JSON, also of one object; undefined if nothing exists there. */
interface View {
  readonly content: readonly VendorObject[] | VendorObject | undefined;
}

/** The pages under `print`, with the classes that they list. */
const PRINTED: ReadonlyMap<string, RegExp> = new Map([
  ['services', /^(Consumer|RTRManaged|ManagedAggregate)?Service(\.|$)/],
  ['mounts', /^Consumer(\.|$)|Mount/],
  ['users', /User(\.|$)/],
  ['process', /Process(\.|$)/],
]);

/** Undefined for an unknown path; `path` has no query. */
function viewAt(path: string, roots: readonly VendorObject[]): View | undefined {
  const [empty, tree, ...names] = path.split('/').map(decoded);
  if (empty !== '' || tree !== 'sharedmem') return undefined;
  const [kind, first = '', second, third = ''] = names;
  if (kind === undefined) return { content: roots };
  if (kind === 'classes' && second === 'instances' && names.length === 4)
    return { content: find(roots, first, third) };
  const pattern = PRINTED.get(first);
  if (kind !== 'print' || names.length !== 2 || pattern === undefined) return undefined;
  const printed = topmost(roots, pattern).map(first === 'services' ? withState : identity);
  return { content: printed.length > 0 ? printed : undefined };
}

function find(
  objects: readonly VendorObject[],
  className: string,
  instance: string,
): VendorObject | undefined {
  for (const object of objects) {
    if (object.Instance === instance && object.Class === className) return object;
    const below = find(object.Children, className, instance);
    if (below !== undefined) return below;
  }
  return undefined;
}

/** Objects of such classes, without those below one another. */
const topmost = (objects: readonly VendorObject[], pattern: RegExp): readonly VendorObject[] =>
  objects.flatMap((object) =>
    pattern.test(object.Class) ? [object] : topmost(object.Children, pattern),
  );

const withState = (service: VendorObject): VendorObject => ({
  ...service,
  State: service.State ?? STATE_TEXTS.normal,
});

/** Returned as it is if its encoding is invalid: then it matches no name. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The parts of a request that an answer depends on. */
type ComponentRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export class Component {
  tree: ServedTree;
  readonly options: Required<ComponentOptions>;
  readonly #ways: OddWays;

  constructor(tree: ServedTree, options: Required<ComponentOptions>) {
    this.tree = tree;
    this.options = options;
    this.#ways = new OddWays(options.oddities);
  }

  /** The roots as they are now, without oddities. */
  roots(): readonly VendorObject[] {
    return Array.from(this.tree.roots, vendorObject);
  }

  /** Objects of the tree as JSON, with oddities. */
  text(objects: readonly VendorObject[]): string {
    return this.#ways.text(this.#ways.tree(objects));
  }

  async answer(asked: ComponentRequest, roots = this.roots()): Promise<HttpAnswer> {
    const { securityKey, refusalStatus, compression } = this.options;
    if (securityKey !== undefined && asked.headers['security-key'] !== securityKey)
      return plainAnswer(refusalStatus, 'Security-Key is missing or wrong\n');
    if (asked.method !== 'GET')
      return plainAnswer(405, 'Only GET is known\n', {
        'Content-Type': 'text/plain',
        Allow: 'GET',
      });
    const answer = this.#show(asked.url ?? '', roots);
    const isAsked = acceptsDeflate(asked.headers['accept-encoding']);
    return isAsked && answer.status === 200 ? compressed(answer, compression) : answer;
  }

  #show(url: string, roots: readonly VendorObject[]): HttpAnswer {
    const { base, contentType } = this.options;
    const [path = ''] = url.split('?');
    const view = path.startsWith(base)
      ? viewAt(path.slice(base.length), this.#ways.tree(roots))
      : undefined;
    if (view === undefined) return plainAnswer(404, 'There is nothing here\n');
    if (view.content === undefined) return NO_CONTENT;
    return plainAnswer(200, this.#ways.text(view.content), { 'Content-Type': contentType });
  }
}

/** A plan whose root has this process id and start; both stay constant. */
export function withRunFacts(
  plan: readonly PlannedInstance[],
  pid: number,
  startedAt: Date,
): readonly PlannedInstance[] {
  const variables: readonly PlannedVariable[] = [
    { name: 'processID', type: 'i64', course: { kind: 'constant', value: pid }, schema: [] },
    {
      name: 'time',
      type: 'string',
      course: { kind: 'fixed', text: startText(startedAt) },
      schema: [],
    },
  ];
  const names = variables.map(({ name }) => name);
  const roots = plan.flatMap(({ objects }) => objects).filter(({ seedPath }) => seedPath === '');
  const root = { seedPath: '', className: roots[0]?.className ?? 'Process', variables };
  const others = plan.map((instance) => ({
    ...instance,
    objects: instance.objects.map((object) =>
      object.seedPath === ''
        ? { ...object, variables: object.variables.filter(({ name }) => !names.includes(name)) }
        : object,
    ),
  }));
  return [{ objects: [root], isTransient: false }, ...others];
}

/** As C's asctime writes UTC, such as `Mon Jan  5 08:00:00 2026`. */
function startText(at: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = at.toUTCString().split(' ');
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}

/** @param stat the text of /proc/self/stat */
export function isForeground(stat: string): boolean {
  // After the name, which may contain blanks: state, parent, group, session, terminal, its group.
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group !== undefined && group === foreground;
}

/** @throws Fault USAGE if a file cannot be read */
export const readTls = (cert: string, key: string): { cert: string; key: string } => ({
  cert: read('--tls-cert', cert),
  key: read('--tls-key', key),
});

function read(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('USAGE', `option ${option}: cannot read ${path}: ${messageOf(error)}`);
  }
}

// One request and its answer; the answer stops when the client disconnects.
interface Manners {
  readonly isChunked: boolean;
  readonly keepsAlive: boolean;
}

export class HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #manners: Manners;
  readonly #over = new AbortController();

  constructor(request: IncomingMessage, response: ServerResponse, manners: Manners) {
    this.request = request;
    this.response = response;
    this.#manners = manners;
    response.once('close', () => {
      this.#over.abort();
    });
    // A client that disconnects is no error here.
    response.on('error', () => undefined);
    // Nothing else reads a request's body; without this, one would block the connection.
    request.resume();
  }

  /** Rejects if the client disconnects first. */
  async pause(ms: number): Promise<void> {
    if (ms > 0) await setTimeout(ms, undefined, { signal: this.#over.signal });
  }

  send(answer: HttpAnswer): void {
    const { isChunked } = this.#manners;
    if (answer.status === 204 || !isChunked) this.head(answer, answer.body.length);
    else this.head(answer);
    this.response.end(answer.body);
  }

  /** Sends a body of any length through these streams, with backpressure. */
  async stream(
    head: Pick<HttpAnswer, 'status' | 'headers'>,
    source: Readable,
    ...through: readonly Duplex[]
  ): Promise<void> {
    this.head(head);
    await pipeline([source, ...through, this.response]);
  }

  /** Sends the head alone; without a length the body is chunked. */
  head({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>, length?: number): void {
    this.response.writeHead(status, {
      ...headers,
      ...(length !== undefined && status !== 204 && { 'Content-Length': length }),
      ...(!this.#manners.keepsAlive && { Connection: 'close' }),
    });
    this.response.flushHeaders();
  }

  /** Closes the connection after these bytes, whatever length the head declared. */
  hangUpAfter(bytes: Buffer): void {
    if (bytes.length > 0) this.response.write(bytes);
    this.response.socket?.destroySoon();
  }

  /** Closes the connection without an answer. */
  drop(): void {
    this.response.destroy();
  }

  /** Ends an exchange that cannot continue, mostly because its client disconnected. */
  fail(error: unknown): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) response.destroy();
    else this.send(plainAnswer(500, `${messageOf(error)}\n`));
  }
}
