// A catalogue of application `demo` that observes the values of its root's variable `lag`.
import type { CatalogueText } from '#app/catalogue/catalogue.js';

const row = (name: string, type: string, more: string): string =>
  `{ name = "demo_${name}", type = "${type}", help = "H.", var = "lag", observe = true, ${more} }`;

/**
 * Defines histogram `demo_lag_seconds` (buckets 1 and 2, values in tenths), summary `demo_lag` and gauge
 * `demo_x`.
 */
export const observing = (scale = 0.1): CatalogueText => ({
  file: 'demo.toml',
  text: `app = "demo"
[[classes]]
alias = "root"
class_ids = ["Root"]
paths = ["@root"]
metrics = [
  ${row('lag_seconds', 'histogram', `buckets = [1, 2], scale = ${scale}`)},
  ${row('lag', 'summary', 'quantiles = [0.5]')},
  { name = "demo_x", type = "gauge", help = "H.", var = "x" },
]
`,
});
