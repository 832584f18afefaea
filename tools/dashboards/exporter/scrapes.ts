// How many scrapes there are, and how long they take.
import type { Drawing } from '../dashboard.js';
import { timeSeries } from '../drawings.js';
import { OF_TARGET, facts, own, target, rate, quantiles, share } from './series.js';

export const scrapes: readonly Drawing[] = [
  timeSeries(
    'reqps',
    facts('Responses by status', '503: a target is not ready, or too many scrapes at once.', {
      '{{code}}': `sum by (code) (${rate(own('http_responses_total'))})`,
    }),
  ),
  timeSeries(
    's',
    facts('Duration of scrapes', 'As Prometheus sees it, for all jobs that scrape this exporter.', {
      '{{job}} {{app}} {{server_key}}': `scrape_duration_seconds{instance=~"$instance"} and on (instance) ${own('build_info')}`,
    }),
  ),
  timeSeries(
    'Bps',
    facts('Bytes of responses', 'Sent, and saved by gzip.', {
      'sent {{instance}}': rate(own('http_sent_bytes_total')),
      'saved {{instance}}': rate(own('http_saved_bytes_total')),
    }),
  ),
  timeSeries(
    'ms',
    facts(
      'Duration of refreshes',
      'Quantiles of the newest 512 refreshes of a target.',
      quantiles('target_refresh_duration'),
    ),
  ),
  timeSeries(
    'ms',
    facts(
      'Wait for a turn',
      'Quantiles of how long refreshes waited in the queue of their partition.',
      quantiles('worker_dequeue_latency'),
    ),
  ),
  timeSeries(
    'cps',
    facts('Refreshes', 'A second, by scrapes and wake-ups.', {
      [OF_TARGET]: rate(target('target_refresh_total')),
    }),
  ),
  timeSeries(
    'percentunit',
    facts('Scrapes from the render cache', 'Nothing had changed since the last render.', {
      [OF_TARGET]: share('internal_scrape_render_cache'),
    }),
  ),
  timeSeries(
    'percentunit',
    facts('Scoped scrapes from the cache', 'Of scrapes of a scope.', {
      [OF_TARGET]: share('internal_scrape_scope_cache'),
    }),
  ),
];
