// Parses headers that list what a client accepts, each with a quality (RFC 9110, 12.4.2).

/** One entry of such a header, in lower case. */
export interface AcceptEntry {
  /** A type such as `text/*`, or a coding such as `gzip`. */
  readonly name: string;
  /** Its parameter of that name. */
  readonly version: string | undefined;
  /** 0 to 1; 0 refuses, and so does a quality that is no number in this range. */
  readonly quality: number;
}

export const parseAccept = (header: string): AcceptEntry[] =>
  header.split(',').map(parseAcceptEntry);

/** Parses one entry; parameters other than version and q have no effect here. */
export function parseAcceptEntry(text: string): AcceptEntry {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const valueOf = (parameter: string): string | undefined =>
    parameters
      .find((each) => each.startsWith(`${parameter}=`))
      ?.slice(parameter.length + 1)
      .replace(/^"(.*)"$/, '$1');
  const quality = Number(valueOf('q') ?? 1);
  return { name, version: valueOf('version'), quality: quality >= 0 && quality <= 1 ? quality : 0 };
}
