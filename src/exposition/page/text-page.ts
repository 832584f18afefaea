// Pages of the text formats, which all use the same rendered sample lines. Defines the format text 0.0.4.
import { bytesOf, joinSmall } from '../../bytes.js';
import type {
  FamilyMetadata,
  Format,
  FamilyLines,
  LineForm,
  Page,
  PageContent,
  Piece,
  Snapshot,
  SyncProgress,
} from '../../model.js';
import {
  GzipText,
  blockOf,
  deflate,
  deflateBlockOf,
  inflated,
  isDeflated,
  joined,
} from '../compress/gzip.js';
import type { DeflateBlock, DeflateStream, GzipInput } from '../compress/gzip.js';
import { memoize } from '../memoize.js';
import { headerText } from '../text/text-syntax.js';

export const notReadyText = ({ objects, variables, reason }: SyncProgress): string =>
  `scrape not ready: objects ${objects.synced}/${objects.total} synced, ` +
  `variables ${variables.synced}/${variables.total} synced, waiting on ${reason}`;

/**
 * The lines of a snapshot as text. Decompresses them if the kernel wrote only deflate blocks. Hold the snapshot at the
 * first call.
 */
export const textLines = memoize(
  (snapshot: Snapshot): readonly Piece[] =>
    snapshot.lines('text') ?? (snapshot.lines('deflated') ?? []).map(inflated),
);

/** Whether a page that is made from this form is text. */
export const isText = (form: LineForm): boolean =>
  form !== 'protobuf' && form !== 'deflated-protobuf';

/** Whether a snapshot can be shown as text. Messages of protobuf cannot: their doubles round large integers. */
export const hasText = (snapshot: Snapshot): boolean =>
  (snapshot.lines('text') ?? snapshot.lines('deflated')) !== undefined;

/** Small enough to build in a few milliseconds, large enough to be worth a write. */
const BUFFER_CHARACTERS = 131_072;

/** Joins texts into buffers. Builds each buffer when the writer reads it. */
export function* textBuffers(texts: Iterable<string>): Generator<Uint8Array> {
  let joinedText = '';
  for (const text of texts) {
    joinedText += text;
    if (joinedText.length < BUFFER_CHARACTERS) continue;
    yield Buffer.from(joinedText);
    joinedText = '';
  }
  if (joinedText !== '') yield Buffer.from(joinedText);
}

/** The number of series of a snapshot, and their size without compression. */
export function sizeOf(snapshot: Snapshot): { readonly series: number; readonly bytes: number } {
  const size = { series: 0, bytes: 0 };
  const pieces =
    snapshot.lines('text') ?? snapshot.lines('deflated') ?? snapshot.lines('protobuf') ?? [];
  for (const { lines, bytes } of pieces) {
    size.series += lines;
    size.bytes += bytes;
  }
  return size;
}

/** The parts of a text format that differ from other text formats. */
export interface Syntax {
  readonly contentType: string;
  /** The header lines of a family. */
  readonly headerText: (metadata: FamilyMetadata) => string;
  /**
   * Adapts the metadata of families to the limits of the format. It is called for the families of a snapshot with
   * `isFirst` true, then for the internal metrics with `isFirst` false.
   */
  readonly adapt?: (
    families: readonly FamilyMetadata[],
    isFirst: boolean,
  ) => readonly FamilyMetadata[];
  /** The form of lines that pages show, and the snapshot with these lines as text. By default, pages show text. */
  readonly lines?: {
    readonly form: LineForm;
    /** @param adapted the families as `adapt` returned them */
    readonly of: (snapshot: Snapshot, adapted: readonly FamilyMetadata[]) => Snapshot;
  };
  /** The last line of a page, if any. */
  readonly end: string;
  readonly accepts?: Format['accepts'];
}

/** A format whose pages need no conversion of lines. */
export interface TextFormat extends Format {
  page(content: PageContent): Page;
}

export function textFormat(syntax: Syntax): TextFormat {
  const { contentType, end, accepts, lines } = syntax;
  const { adapt = (all: readonly FamilyMetadata[]) => all } = syntax;
  const headerText = memoize(syntax.headerText);
  const headerOf = memoize((metadata: FamilyMetadata) => Buffer.from(headerText(metadata)));
  const applicationText = memoize((snapshot: Snapshot) => {
    const families = adapt(snapshot.metadata, true);
    return new ApplicationText(lines?.of(snapshot, families) ?? snapshot, families.map(headerOf));
  });
  /** The text of the internal metrics, then the end mark of the format. It differs from page to page. */
  const internalText = (internal: readonly FamilyLines[]): readonly Uint8Array[] => {
    const adapted = adapt(
      internal.map(({ metadata }) => metadata),
      false,
    );
    const texts = internal.map(
      ({ text, metadata }, index) => headerText(adapted[index] ?? metadata) + text,
    );
    const text = texts.join('') + end;
    return text === '' ? [] : [Buffer.from(text)];
  };
  return {
    contentType,
    form: (usesGzip) => lines?.form ?? (usesGzip ? 'deflated' : 'text'),
    ...(accepts !== undefined && { accepts }),
    page: ({ snapshot, internal }) =>
      pageOf(contentType, applicationText(snapshot), internalText(internal), snapshot.hold()),
  };
}

const deflatedHeader = memoize(deflateBlockOf);

/** The families of a page, each below its header. One object serves all pages of a snapshot. */
class ApplicationText implements ApplicationPart {
  /** Each page that uses the text holds the snapshot, so the text stays valid. */
  readonly #snapshot: Snapshot;
  readonly #headers: readonly Uint8Array[];
  #bytes: number | undefined;
  #buffers: readonly Uint8Array[] | undefined;
  #deflated: DeflateStream | undefined;
  readonly gzip = new GzipText(this, () => this.#deflate());

  /** @param headers the header of each family */
  constructor(snapshot: Snapshot, headers: readonly Uint8Array[]) {
    this.#snapshot = snapshot;
    this.#headers = headers;
  }

  get bytes(): number {
    return (this.#bytes ??= sizeOf(this.#snapshot).bytes + bytesOf(this.#headers));
  }

  get buffers(): readonly Uint8Array[] {
    return (this.#buffers ??= this.#joinedText());
  }

  /** Undefined if the kernel did not compress all lines. */
  get deflated(): DeflateStream | undefined {
    const lines = this.#snapshot.lines('deflated');
    if (!lines?.every(isDeflated)) return undefined;
    return (this.#deflated ??= joined(this.#belowHeaders(lines, deflatedHeader)));
  }

  /** Compresses the lines that the kernel did not compress, in other threads. */
  async #deflate(): Promise<DeflateStream> {
    const lines = this.#snapshot.lines('deflated');
    if (lines === undefined) return deflate(this.buffers);
    const blocks: DeflateBlock[] = [];
    let text: Uint8Array[] = [];
    const deflateText = async () => {
      if (text.length > 0) blocks.push(blockOf(await deflate(text)));
      text = [];
    };
    const header = (data: Uint8Array, first: Piece) =>
      isDeflated(first) ? deflatedHeader(data) : { data, crc: undefined };
    for (const piece of this.#belowHeaders(lines, header))
      if (!isDeflated(piece)) text.push(piece.data);
      else {
        await deflateText();
        // The page is sent after the snapshot was released, so it needs a copy of the block.
        blocks.push({ ...piece, data: Buffer.from(piece.data) });
      }
    await deflateText();
    return joined(blocks);
  }

  #joinedText(): readonly Uint8Array[] {
    const text = this.#belowHeaders(textLines(this.#snapshot), (data) => ({ data }));
    return joinSmall(text.map(({ data }) => data));
  }

  /** Puts the header of each family before its first piece. */
  #belowHeaders<P extends Pick<Piece, 'family'>, H>(
    all: readonly P[],
    headerOf: (header: Uint8Array, first: P) => H,
  ): readonly (P | H)[] {
    return familiesOf(all).flatMap(({ pieces }, index) => {
      const [header, first] = [this.#headers[index], pieces[0]];
      return header && first ? [headerOf(header, first), ...pieces] : pieces;
    });
  }
}

interface FamilyPieces<P> {
  readonly family: FamilyMetadata;
  readonly pieces: P[];
}

/** Groups consecutive pieces by the name of their family. Several targets may have families of the same name. */
export function familiesOf<P extends Pick<Piece, 'family'>>(
  pieces: readonly P[],
): readonly FamilyPieces<P>[] {
  const families: FamilyPieces<P>[] = [];
  for (const piece of pieces) {
    const last = families.at(-1);
    if (last?.family.name === piece.family.name) last.pieces.push(piece);
    else families.push({ family: piece.family, pieces: [piece] });
  }
  return families;
}

/** The application's metrics on a page. One object serves all pages of a snapshot. */
interface ApplicationPart extends GzipInput {
  readonly bytes: number;
  readonly gzip: GzipText;
}

/** A page with the application's metrics, then the internal metrics. */
export const pageOf = (
  contentType: string,
  application: ApplicationPart,
  internal: readonly Uint8Array[],
  release: () => void,
): Page => ({
  contentType,
  get buffers() {
    return application.buffers.concat(internal);
  },
  bytes: application.bytes + bytesOf(internal),
  release,
  gzip: () => application.gzip.body(internal, release),
});

/** Pages of text 0.0.4. */
export const TEXT = textFormat({
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  headerText,
  end: '',
});
