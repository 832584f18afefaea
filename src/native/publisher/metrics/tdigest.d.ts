// Types of the parts of the `tdigest` package that summaries use.
declare module 'tdigest' {
  export class TDigest {
    push(value: number): void;
    compress(): void;
    size(): number;
    /** The value below which a share of the values lies; undefined without values. */
    percentile(share: number): number | undefined;
  }
  const exported: { readonly TDigest: typeof TDigest };
  export default exported;
}
