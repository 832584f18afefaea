// Loaded before a program: what it does every half minute or less often happens every six seconds.
const HALF_A_MINUTE_MS = 30_000;
const HURRY = 5;

const { setInterval: unhurried } = globalThis;
const hurried = (callback: () => void, ms = 0): NodeJS.Timeout =>
  unhurried(callback, ms >= HALF_A_MINUTE_MS ? ms / HURRY : ms);
globalThis.setInterval = Object.assign(hurried, unhurried);
