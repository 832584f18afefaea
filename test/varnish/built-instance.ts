// Builds the shared memory of a Varnish instance, byte by byte and without the tables of the code under test.
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export interface BuiltField {
  readonly name: string;
  readonly type?: string;
  readonly format?: string;
  readonly ctype?: string;
  readonly oneliner?: string;
  readonly index?: number;
}

/** Where a segment was written, so that a test can change it. */
export interface BuiltSegment {
  readonly path: string;
  readonly offset: number;
  /** The line of the segment in the index, without `+` or `-`. */
  readonly line: string;
}

export const HEADER_BYTES = 24;

/** Returns the JSON of a schema in the form of Varnish 7.1. */
export function schemaJson(name: string, fields: readonly BuiltField[]): string {
  const elem = Object.fromEntries(
    fields.map((field, place) => [
      field.name,
      {
        ...{ type: 'counter', ctype: 'uint64_t', level: 'info', format: 'integer' },
        ...{ oneliner: `Help of ${field.name}`, index: place * 8, docs: '' },
        ...field,
      },
    ]),
  );
  const facts = { version: '1', name, oneliner: `${name} counters`, order: 10, docs: '' };
  return JSON.stringify({ ...facts, elements: fields.length, elem });
}

/** Returns the bytes of a segment: header and body. */
export function segmentBytes(ready: number, id: bigint, body: Uint8Array, bodyAt = HEADER_BYTES) {
  const bytes = Buffer.alloc(bodyAt + body.length);
  bytes.writeInt32LE(ready, 0);
  bytes.writeBigUInt64LE(BigInt(bodyAt), 8);
  bytes.writeBigUInt64LE(id, 16);
  bytes.set(body, bodyAt);
  return bytes;
}

export function bodyOf(values: readonly bigint[]): Buffer {
  const body = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => body.writeBigUInt64LE(value, index * 8));
  return body;
}

/** The directory of the manager process or the child process. */
export class BuiltDirectory {
  readonly path: string;
  readonly #lines: string[] = [];
  #files = 0;

  constructor(path: string, { pid, birth }: { readonly pid: number; readonly birth: number }) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o750);
    this.#lines.push(`# ${pid} ${birth}\n`);
    writeFileSync(this.index, this.#lines[0] ?? '', { mode: 0o640 });
  }

  get index(): string {
    return join(this.path, '_.index');
  }

  schema(id: bigint, json: string, ready = 1): BuiltSegment {
    const body = Buffer.from(`${json}\0`);
    return this.segment('StatDoc', id.toString(16), segmentBytes(ready, id, body));
  }

  values(ident: string, id: bigint, values: readonly bigint[], ready = 1): BuiltSegment {
    return this.segment('Stat', ident, segmentBytes(ready, id, bodyOf(values)));
  }

  segment(className: string, ident: string, bytes: Uint8Array): BuiltSegment {
    const file = this.#newFile(className);
    writeFileSync(join(this.path, file), bytes, { mode: 0o640 });
    return this.#added(file, 0, bytes.length, className, ident);
  }

  /** Adds a file that can hold several segments. */
  cluster(bytes = 4096): string {
    const file = this.#newFile('VSC_cluster');
    writeFileSync(join(this.path, file), Buffer.alloc(bytes), { mode: 0o640 });
    this.append(`+ ${file} 0 ${bytes}  \n`);
    return file;
  }

  /** Writes a segment of values into a file that holds several segments. */
  within(file: string, offset: number, ident: string, bytes: Uint8Array): BuiltSegment {
    poke(join(this.path, file), offset, bytes);
    return this.#added(file, offset, bytes.length, 'Stat', ident);
  }

  /** Removes a segment from the index. Removes its file too, unless other segments share it. */
  remove({ path, line }: BuiltSegment): void {
    if (!path.includes('cluster')) rmSync(path);
    this.append(`- ${line}\n`);
  }

  /** Rewrites the index with the present segments only, as Varnish does when many lines are outdated. */
  rewrite(): void {
    const gone = new Set(this.#lines.filter((line) => line.startsWith('-')).map((l) => l.slice(2)));
    const lines = this.#lines.filter((line) => !line.startsWith('-') && !gone.has(line.slice(2)));
    this.#lines.splice(0, this.#lines.length, ...lines);
    writeFileSync(`${this.index}.new`, lines.join(''), { mode: 0o640 });
    renameSync(`${this.index}.new`, this.index);
  }

  /** Appends text to the index. */
  append(text: string): void {
    this.#lines.push(text);
    appendFileSync(this.index, text);
  }

  #newFile(className: string): string {
    // As in Varnish, names have 64 pseudo-random bits, so a few changed bytes never produce the name of
    // another file.
    const digits = BigInt.asUintN(64, BigInt(++this.#files) * 0x9e37_79b9_7f4a_7c15n).toString(16);
    return `_.${className}.${digits.padStart(16, '0')}`;
  }

  #added(file: string, offset: number, length: number, className: string, ident: string) {
    const line = `${file} ${offset} ${length} ${className} ${ident}`;
    this.append(`+ ${line}\n`);
    return { path: join(this.path, file), offset, line };
  }
}

/** Changes bytes of a file in place. */
export function poke(path: string, at: number, bytes: Uint8Array): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}

export function setValue({ path, offset }: BuiltSegment, index: number, value: bigint): void {
  poke(path, offset + HEADER_BYTES + index * 8, bodyOf([value]));
}

export function setReady({ path, offset }: BuiltSegment, ready: number): void {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(ready);
  poke(path, offset, bytes);
}
