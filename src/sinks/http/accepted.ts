// Reads headers that list what a client accepts and how it likes each (RFC 9110, 12.4.2).

/** One entry of such a header, in lower case. */
export interface Accepted {
  /** A type such as `text/*`, or a coding such as `gzip`. */
  readonly name: string;
  /** Its parameter of that name. */
  readonly version: string | undefined;
  /** 0 to 1; 0 is a refusal, and so is what is no quality. */
  readonly quality: number;
}

export const accepted = (header: string): Accepted[] => header.split(',').map(acceptedEntry);

/** Reads an entry; parameters other than version and q do not matter to us. */
export function acceptedEntry(text: string): Accepted {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const valueOf = (parameter: string): string | undefined =>
    parameters
      .find((each) => each.startsWith(`${parameter}=`))
      ?.slice(parameter.length + 1)
      .replace(/^"(.*)"$/, '$1');
  const quality = Number(valueOf('q') ?? 1);
  return { name, version: valueOf('version'), quality: quality >= 0 && quality <= 1 ? quality : 0 };
}
