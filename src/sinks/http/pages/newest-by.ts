// How it is known when the newest value of a target came.
import type { NewestBy } from '../../../model.js';

export const NEWEST_BY: Readonly<Record<NewestBy, string>> = {
  stated: 'as the publisher states',
  notified: 'last notification',
};
