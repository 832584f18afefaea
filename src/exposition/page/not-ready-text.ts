// The sentence for a target that cannot be scraped yet. Spec 7.
import type { SyncProgress } from '../../model.js';

export const notReadyText = ({ objects, variables, reason }: SyncProgress): string =>
  `scrape not ready: objects ${objects.synced}/${objects.total} synced, ` +
  `variables ${variables.synced}/${variables.total} synced, waiting on ${reason}`;
