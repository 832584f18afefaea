// Loaded before a program: what it does every half minute or less often happens more often, as `?times=5` says.
const HALF_A_MINUTE_MS = 30_000;
const times = Number(new URL(import.meta.url).searchParams.get('times'));

const { setInterval: unhurried } = globalThis;
const hurried = (callback: () => void, ms = 0): NodeJS.Timeout =>
  unhurried(callback, ms >= HALF_A_MINUTE_MS ? ms / times : ms);
globalThis.setInterval = Object.assign(hurried, unhurried);
