// What a reload tells whoever asked for it.

export type ReloadAnswer =
  | {
      readonly kind: 'taken';
      /** A sentence for each changed setting that takes effect at the next start only. */
      readonly later: readonly string[];
    }
  | {
      readonly kind: 'refused';
      /** Every reason; the configuration before stays in use. */
      readonly reasons: readonly string[];
    };
