// A simulated component: its options, its answers, and one exchange with a client.
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
import { OddityFilter } from './oddities.js';
import type { OddityName } from './oddities.js';
import type { ServedTree } from './served-tree.js';
import { STATE_TEXTS, vendorObject } from './vendor-json.js';
import type { VendorObject } from './vendor-json.js';

export interface ComponentOptions {
  /** Path before `/sharedmem`, such as `/rtds`. Default empty. */
  readonly base?: string;
  /** Required value of the header Security-Key. Default: none is required. */
  readonly securityKey?: string | undefined;
  /** Status for requests without the key. Default 401. */
  readonly refusalStatus?: 401 | 403;
  /** PEM texts; with them it serves HTTPS. */
  readonly tls?: TlsPair | undefined;
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
  /** Called with each request. */
  readonly onRequest?: (request: IncomingMessage) => void;
}

export interface TlsPair {
  readonly cert: string;
  readonly key: string;
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
  onRequest: () => undefined,
} as const satisfies Required<ComponentOptions>;

/** The answer to a request, independent of the connection. */
export interface HttpAnswer {
  readonly status: number;
  /** Without Content-Length and Connection. */
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

/** The objects at a path: one, or a list; undefined if there are none. */
interface View {
  readonly content: readonly VendorObject[] | VendorObject | undefined;
}

/** The classes that each page under `print` lists. */
const PRINTED: ReadonlyMap<string, RegExp> = new Map([
  ['services', /^(Consumer|RTRManaged|ManagedAggregate)?Service(\.|$)/],
  ['mounts', /^Consumer(\.|$)|Mount/],
  ['users', /User(\.|$)/],
  ['process', /Process(\.|$)/],
]);

/** The view at a path without a query; undefined for an unknown path. */
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

/** The topmost objects whose class matches. */
const topmost = (objects: readonly VendorObject[], pattern: RegExp): readonly VendorObject[] =>
  objects.flatMap((object) =>
    pattern.test(object.Class) ? [object] : topmost(object.Children, pattern),
  );

const withState = (service: VendorObject): VendorObject => ({
  ...service,
  State: service.State ?? STATE_TEXTS.normal,
});

/** The decoded segment of a path. One with an invalid encoding stays as it is, and matches no name. */
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
  readonly #oddities: OddityFilter;

  constructor(tree: ServedTree, options: Required<ComponentOptions>) {
    this.tree = tree;
    this.options = options;
    this.#oddities = new OddityFilter(options.oddities);
  }

  /** The roots as they are now, without oddities. */
  roots(): readonly VendorObject[] {
    return Array.from(this.tree.roots, vendorObject);
  }

  /** Objects of the tree as JSON, with oddities. */
  text(objects: readonly VendorObject[]): string {
    return this.#oddities.text(this.#oddities.tree(objects));
  }

  async answer(request: ComponentRequest, roots = this.roots()): Promise<HttpAnswer> {
    const { securityKey, refusalStatus, compression } = this.options;
    if (securityKey !== undefined && request.headers['security-key'] !== securityKey)
      return plainAnswer(refusalStatus, 'Security-Key is missing or wrong\n');
    if (request.method !== 'GET')
      return plainAnswer(405, 'Only GET is known\n', {
        'Content-Type': 'text/plain',
        Allow: 'GET',
      });
    const answer = this.#show(request.url ?? '', roots);
    const canDeflate = acceptsDeflate(request.headers['accept-encoding']);
    return canDeflate && answer.status === 200 ? compressed(answer, compression) : answer;
  }

  #show(url: string, roots: readonly VendorObject[]): HttpAnswer {
    const { base, contentType } = this.options;
    const [path = ''] = url.split('?');
    const view = path.startsWith(base)
      ? viewAt(path.slice(base.length), this.#oddities.tree(roots))
      : undefined;
    if (view === undefined) return plainAnswer(404, 'There is nothing here\n');
    if (view.content === undefined) return NO_CONTENT;
    return plainAnswer(200, this.#oddities.text(view.content), { 'Content-Type': contentType });
  }
}

/** The plan, with this process id and start time as constants of its root. */
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

/**
 * True if the process is in the foreground of its terminal.
 * @param stat the text of /proc/self/stat
 */
export function isForeground(stat: string): boolean {
  // After the name, which may contain blanks: state, parent, group, session, terminal, its group.
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group !== undefined && group === foreground;
}

/** Reads a certificate and its key. @throws Fault USAGE if a file cannot be read */
export const readTls = (cert: string, key: string): TlsPair => ({
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

/** One request and its answer, which stops when the client disconnects. */
export class HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #options: Pick<Required<ComponentOptions>, 'isChunked' | 'keepsAlive'>;
  readonly #over = new AbortController();

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    options: Pick<Required<ComponentOptions>, 'isChunked' | 'keepsAlive'>,
  ) {
    this.request = request;
    this.response = response;
    this.#options = options;
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
    if (answer.status === 204 || !this.#options.isChunked) this.head(answer, answer.body.length);
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

  /** Sends the status and headers; without a length, the body is chunked. */
  head({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>, length?: number): void {
    this.response.writeHead(status, {
      ...headers,
      ...(length !== undefined && status !== 204 && { 'Content-Length': length }),
      ...(!this.#options.keepsAlive && { Connection: 'close' }),
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

  /** Ends an exchange after an error, which is mostly a client that disconnected. */
  fail(error: unknown): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) response.destroy();
    else this.send(plainAnswer(500, `${messageOf(error)}\n`));
  }
}
