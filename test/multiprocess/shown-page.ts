// Renders the page of a directory in this process, without an exporter.
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { FORMATS } from '#app/targets/formats.js';
import type { PollResult, Poller } from '#app/streams/poller.js';
import { testView } from '../exposition/test-view.js';
import { HeapMemory } from '../support/heap-memory.js';
import { pollAll } from '../support/polled-values.js';
import { runToEnd } from '#app/run-to-end.js';
import type { Family } from './compared-pages.js';
import { familiesOf } from './compared-pages.js';

/** Makes a poller of the format with these settings, as they are in a configuration file. */
export function multiprocessPoller(settings: Readonly<Record<string, unknown>>): Poller {
  const format = FORMATS.get('multiprocess');
  if (format === undefined) throw new Error('the exporter has no format multiprocess');
  const checked = format.rule.read(settings, [], (problem) => {
    throw new Error(JSON.stringify(problem));
  });
  if (checked === undefined) throw new Error('no settings');
  const parts = { memory: new HeapMemory(), contextId: 'test', poolName: '' };
  return format.pollers(parts, checked)('shop');
}

/** Views of all pages share it, since each kernel has a memory of its own. */
let kernel: Kernel | undefined;

/** The text page of the directories of a poller. */
export function pageOf(poller: Poller): { readonly polled: PollResult; readonly page: string } {
  const polled = pollAll(poller);
  const { source, publisher } = polled;
  const [root] = source?.roots ?? [];
  if (source === undefined || root === undefined) throw new Error(publisher.reason);
  kernel ??= new Kernel();
  const { view, text } = testView(source, root, { kernel, showUncatalogued: true });
  const page = text();
  runToEnd(view.closing());
  return { polled, page };
}

/** The application's families of a page, without the metrics of the directory and of processes. */
export const applicationFamilies = (page: string): Map<string, Family> =>
  new Map([...familiesOf(page)].filter(([name]) => !/^(multiprocess|process)_/.test(name)));

/** The application's families that the exporter shows for a directory. */
export function shownFamilies(directory: string): Map<string, Family> {
  const poller = multiprocessPoller({ directories: [directory] });
  try {
    return applicationFamilies(pageOf(poller).page);
  } finally {
    poller.close();
  }
}
