// Pages of the text formats, which all use the same rendered sample lines. Defines the format text 0.0.4.
import { bytesOf, joinSmall } from '../../bytes.js';
import type {
  Body,
  FamilyMetadata,
  FamilyText,
  Format,
  FamilyHeader,
  Page,
  ReadyAnswer,
  SyncProgress,
} from '../../model.js';
import { deflatedFamilies } from '../compress/deflate-stream.js';
import type { DeflateStream } from '../compress/deflate-stream.js';
import { GzipText } from '../compress/gzip.js';
import type { GzipInput } from '../compress/gzip.js';
import { headerOf } from '../text/text-syntax.js';
import { familiesOf } from './scope.js';

export const notReadyText = ({ objects, variables, reason }: SyncProgress): string =>
  `scrape not ready: objects ${objects.synced}/${objects.total} synced, ` +
  `variables ${variables.synced}/${variables.total} synced, waiting on ${reason}`;

/** The parts of a text format that differ from other text formats. */
interface Syntax {
  readonly contentType: string;
  /** Returns the header of a family; always the same object for the same metadata object. */
  readonly headerOf: HeaderOf;
  /**
   * Adapts the metadata of families to the limits of the format. It is called for the families of a snapshot with
   * `isFirst` true, then for the internal metrics with `isFirst` false.
   */
  readonly adapt?: (
    families: readonly FamilyMetadata[],
    isFirst: boolean,
  ) => readonly FamilyMetadata[];
  /** The last line of a page, if any. */
  readonly end: string;
  readonly accepts?: Format['accepts'];
}

export function textFormat(syntax: Syntax): Format {
  const { contentType, end, accepts, adapt = (all: readonly FamilyMetadata[]) => all } = syntax;
  /** The texts of application metrics, by snapshot or by the list of families that a scope selects. */
  const applications = new WeakMap<object, ApplicationText>();
  const applicationText = (answer: ReadyAnswer): ApplicationText => {
    const { snapshot, selected } = answer;
    const key = selected ?? snapshot;
    const former = applications.get(key);
    if (former !== undefined) return former;
    const given = selected?.map(({ metadata }) => metadata) ?? snapshot.metadata;
    const application = new ApplicationText(answer, adapt(given, true), syntax.headerOf);
    applications.set(key, application);
    return application;
  };
  /** The text of the internal metrics, then the end mark of the format. It differs from page to page. */
  const internalText = ({ internal }: ReadyAnswer): readonly Uint8Array[] => {
    const adapted = adapt(
      internal.map(({ metadata }) => metadata),
      false,
    );
    let text = '';
    internal.forEach((family, index) => {
      text += syntax.headerOf(adapted[index] ?? family.metadata).text;
      text += family.text ?? Buffer.concat(family.buffers).toString();
    });
    text += end;
    return text === '' ? [] : [Buffer.from(text)];
  };
  return {
    contentType,
    ...(accepts !== undefined && { accepts }),
    page: (answer) =>
      new TextPage(
        contentType,
        applicationText(answer),
        internalText(answer),
        answer.snapshot.hold(),
      ),
  };
}

type HeaderOf = (metadata: FamilyMetadata) => FamilyHeader;

/** The families of a page, each below its header. One object serves all pages of a snapshot and scope. */
class ApplicationText implements GzipInput {
  /** Each page that uses the text of this answer holds its snapshot, so the text stays valid. */
  readonly #answer: ReadyAnswer;
  readonly #metadata: readonly FamilyMetadata[];
  readonly #headerOf: HeaderOf;
  readonly #page: readonly Uint8Array[] | undefined;
  #bytes: number | undefined;
  #buffers: readonly Uint8Array[] | undefined;
  #deflated: DeflateStream | undefined;
  readonly gzip = new GzipText(this);

  /** @param metadata the metadata of each family, adapted to the format */
  constructor(answer: ReadyAnswer, metadata: readonly FamilyMetadata[], makeHeader: HeaderOf) {
    this.#answer = answer;
    this.#metadata = metadata;
    this.#headerOf = makeHeader;
    // `snapshot.page` has all families, with headers of text 0.0.4.
    const isWhole = makeHeader === headerOf && answer.selected === undefined;
    this.#page = isWhole ? answer.snapshot.page : undefined;
  }

  get bytes(): number {
    return (this.#bytes ??= this.#page === undefined ? this.#sum() : bytesOf(this.#page));
  }

  get buffers(): readonly Uint8Array[] {
    return (this.#buffers ??= this.#page ?? joined(this.#families, this.#headers));
  }

  /** Undefined if the kernel did not compress the lines. */
  get deflated(): DeflateStream | undefined {
    if (this.#answer.snapshot.isDeflated !== true) return undefined;
    return (this.#deflated ??= deflatedFamilies(this.#families, this.#headers));
  }

  get #families(): readonly FamilyText[] {
    return familiesOf(this.#answer);
  }

  get #headers(): readonly FamilyHeader[] {
    return this.#metadata.map(this.#headerOf);
  }

  #sum(): number {
    const { selected, snapshot } = this.#answer;
    let bytes = selected === undefined ? snapshot.bytes : 0;
    for (const family of selected ?? []) bytes += family.bytes;
    for (const header of this.#headers) bytes += header.bytes;
    return bytes;
  }
}

/** Buffers smaller than this are copied into one buffer, since small writes cost more than the copy. */
const SMALL = 16_384;

/** Families below their headers. Texts and headers that are adjacent in memory become one buffer. */
function joined(families: readonly FamilyText[], headers: readonly FamilyHeader[]): Uint8Array[] {
  const buffers: Uint8Array[] = [];
  let memory: ArrayBufferLike | undefined;
  let start = 0;
  let end = 0;
  const endRange = (): void => {
    if (memory !== undefined) buffers.push(Buffer.from(memory, start, end - start));
    memory = undefined;
  };
  families.forEach((family, index) => {
    const header = headers[index]?.text ?? '';
    const { textRanges } = family;
    if (textRanges?.header.text !== header) {
      endRange();
      buffers.push(Buffer.from(header), ...family.buffers);
      return;
    }
    const { ranges } = textRanges;
    for (let i = 0; i < ranges.length; i += 2) {
      const from = ranges[i] ?? 0;
      if (memory !== textRanges.memory || from !== end) {
        endRange();
        memory = textRanges.memory;
        start = from;
      }
      end = ranges[i + 1] ?? 0;
    }
  });
  endRange();
  return joinSmall(buffers, SMALL);
}

class TextPage implements Page {
  readonly contentType: string;
  readonly bytes: number;
  readonly release: () => void;
  readonly #application: ApplicationText;
  readonly #internal: readonly Uint8Array[];

  constructor(
    contentType: string,
    application: ApplicationText,
    internal: readonly Uint8Array[],
    release: () => void,
  ) {
    this.contentType = contentType;
    this.bytes = application.bytes + bytesOf(internal);
    this.release = release;
    this.#application = application;
    this.#internal = internal;
  }

  get buffers(): readonly Uint8Array[] {
    return this.#application.buffers.concat(this.#internal);
  }

  gzip(): Body | Promise<Body> {
    return this.#application.gzip.body(this.#internal, this.release);
  }
}

/** Pages of text 0.0.4. */
export const TEXT = textFormat({
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  headerOf,
  end: '',
});
