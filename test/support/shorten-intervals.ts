// A module that is loaded before a program. It divides intervals of half a minute or more by the number in
// its own URL, as in `?times=5`.
const HALF_A_MINUTE_MS = 30_000;
const times = Number(new URL(import.meta.url).searchParams.get('times'));

const { setInterval: originalSetInterval } = globalThis;
const shortened = (callback: () => void, ms = 0): NodeJS.Timeout =>
  originalSetInterval(callback, ms >= HALF_A_MINUTE_MS ? ms / times : ms);
globalThis.setInterval = Object.assign(shortened, originalSetInterval);
