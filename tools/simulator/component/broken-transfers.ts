// Sends the right answer wrongly: byte by byte, in part, or with a wrong length.
import type { FaultyAnswer } from './faulty-answer.js';

const EXCESS_AFTER_MS = 50;

/** Sends the head, then single bytes with a pause between them. */
export const drip: FaultyAnswer = async (exchange, component) => {
  const answer = await component.answer(exchange.request);
  exchange.head(answer, answer.body.length);
  for (const byte of answer.body) {
    await exchange.pause(component.options.dripMs);
    exchange.response.write(Buffer.of(byte));
  }
  exchange.response.end();
};

/** Ends the connection in the middle of the body. */
export const cut: FaultyAnswer = async (exchange, component) => {
  const answer = await component.answer(exchange.request);
  exchange.head(answer, answer.body.length);
  exchange.hangUpAfter(answer.body.subarray(0, Math.floor(answer.body.length / 2)));
};

/** Ends the connection after the head. */
export const headersOnly: FaultyAnswer = async (exchange, component) => {
  const answer = await component.answer(exchange.request);
  exchange.head(answer, answer.body.length);
  exchange.hangUpAfter(Buffer.alloc(0));
};

/** Declares less than the body has; the rest follows once the client believes it is complete. */
export const shortLength: FaultyAnswer = async (exchange, component) => {
  const { body, ...head } = await component.answer(exchange.request);
  const half = Math.floor(body.length / 2);
  exchange.head(head, half);
  exchange.response.write(body.subarray(0, half));
  await exchange.pause(EXCESS_AFTER_MS);
  exchange.hangUpAfter(body.subarray(half));
};

/** Declares more than the body has. */
export const longLength: FaultyAnswer = async (exchange, component) => {
  const answer = await component.answer(exchange.request);
  exchange.head(answer, answer.body.length + 100);
  exchange.hangUpAfter(answer.body);
};
