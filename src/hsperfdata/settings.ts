// The settings of a target whose format is hsperfdata.
import { words } from '../rules/formats.js';
import { flag, list, text } from '../rules/rule.js';
import { optional } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

/** The application of the root of each target. */
export const HSPERFDATA_APP = 'jvm';

const directory = text(
  /^(?=.{2,1024}$)\/(?:[^*\p{Cc}/]+\/)*[^\p{Cc}/]+$/u,
  'an absolute path whose last part may contain *',
);

export const HSPERFDATA_SETTINGS = {
  directories: optional(
    ['/tmp/hsperfdata_*'],
    list(directory, { min: 1, max: 64, different: { by: String } }),
    'Directories with counter files of JVMs, one for each user',
  ),
  containers: optional(
    false,
    flag,
    'Also shows JVMs in containers, through /proc. The exporter needs permission to read the processes in containers',
  ),
  users: optional(
    [],
    words,
    'Users whose JVMs are shown, as in hsperfdata_USER; * matches any characters. An empty list shows all',
  ),
  mainClasses: optional(
    [],
    words,
    'Main classes or jar files of the JVMs that are shown; * matches any characters. An empty list shows all',
  ),
};

export type HsperfdataSettings = ValuesOf<typeof HSPERFDATA_SETTINGS>;
