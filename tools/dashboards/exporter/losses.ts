// What is missing from the pages of targets.
import type { Drawing } from '../dashboard.js';
import { timeSeries } from '../drawings.js';
import { OF_TARGET, OF_EXPORTER, facts, own, target, rate, byTarget } from './series.js';

export const losses: readonly Drawing[] = [
  timeSeries(
    'short',
    facts(
      'No room in the segment',
      'Objects and variables that the publisher dropped.',
      byTarget('target_dropped_objects', 'target_dropped_variables'),
    ),
  ),
  timeSeries(
    'short',
    facts(
      'Left out beyond a limit',
      'Missing from the page now.',
      byTarget('target_omitted_series', 'target_omitted_objects', 'target_omitted_variables'),
    ),
  ),
  timeSeries(
    'short',
    facts(
      'Clashes of series',
      'Missing from the page now, since another has the same name and labels.',
      byTarget('target_clashing_series'),
    ),
  ),
  timeSeries(
    'cps',
    facts('Stale frames', 'Texts, histograms and summaries that kept their last value, a second.', {
      [OF_TARGET]: rate(target('target_stale_frames_total')),
    }),
  ),
  timeSeries(
    'short',
    facts(
      'Catalogue and filters',
      'Rows, variables and filters that fit nothing.',
      byTarget(
        'target_catalogue_rows_unmatched',
        'target_catalogue_rows_mistyped',
        'target_variables_without_row',
        'target_filters_unmatched',
      ),
    ),
  ),
  timeSeries(
    'cps',
    facts('Clients', 'Responses that were cut, connections that were replaced, a second.', {
      'cut {{instance}}': rate(own('http_cut_responses_total')),
      'replaced {{instance}}': rate(own('http_dropped_connections_total')),
    }),
  ),
  timeSeries(
    'short',
    facts('Scopes that select nothing', 'Their pages answer 404.', {
      [OF_EXPORTER]: own('scopes_unmatched'),
    }),
  ),
];
