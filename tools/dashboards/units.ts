// Units of metrics as Grafana names them.

const LEVELS: Readonly<Record<string, string>> = {
  bytes: 'bytes',
  seconds: 's',
  ratio: 'percentunit',
};
const RATES: Readonly<Record<string, string>> = {
  bytes: 'Bps',
  packets: 'pps',
  // Seconds in a second.
  seconds: 'percentunit',
};

/** Of a value as it is. */
export const levelUnit = (unit: string): string => LEVELS[unit] ?? 'short';

/** Of a total's growth in a second. */
export const rateUnit = (unit: string): string => RATES[unit] ?? 'cps';
