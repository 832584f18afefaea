// Prometheus text 0.0.4.
import { headerText } from '../text/header-text.js';
import { textFormat } from './text-page.js';

/** Pages of text 0.0.4. */
export const TEXT = textFormat({
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  header: headerText,
  end: '',
});
