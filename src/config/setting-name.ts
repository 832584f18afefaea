// How messages of the exporter name a setting.
import { settingNames } from '../rules/setting-names.js';
import { OPTIONS } from './options.js';

/** `metrics_port (--metrics-port)`, or `--metrics-port (metrics_port)` where the option gave the value. */
export const settingName = settingNames(OPTIONS);
