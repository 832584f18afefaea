// Generates arbitrary valid settings from the rules of their keys.
import fc from 'fast-check';
import { SETTINGS, formatSettings } from '#app/config/settings.js';
import type { Settings } from '#app/config/settings.js';
import * as formats from '#app/rules/formats.js';
import { flag } from '#app/rules/rule.js';
import type { Field } from '#app/rules/table.js';
import { anyCharacter } from '../support/any-character.js';

/** Any character except control characters. */
const printable = anyCharacter.filter((character) => !/\p{Cc}/u.test(character));
const line = fc.string({ unit: printable, maxLength: 40 });
const word = fc.string({ unit: printable, minLength: 1, maxLength: 40 });
const name = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$/);
const address = fc
  .tuple(fc.constantFrom('', '127.0.0.1', '[::1]', 'h.example'), fc.nat(65_535))
  .map(([host, port]) => `${host}:${port}`);

/** Generators of valid values for each rule, by the rule's `allowed` text. */
const BY_RULE = new Map<string, fc.Arbitrary<unknown>>([
  [flag.allowed, fc.boolean()],
  [formats.name.allowed, name],
  [formats.names.allowed, fc.uniqueArray(name, { minLength: 1, maxLength: 5 })],
  [formats.application.allowed, fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,63}$/)],
  [formats.line.allowed, line],
  [formats.words.allowed, fc.array(word, { maxLength: 5 })],
  [formats.ipv4.allowed, fc.ipV4()],
  [formats.urlPath.allowed, fc.stringMatching(/^(\/[a-z0-9_~]{1,20}){1,5}$/)],
  [formats.timeZone.allowed, fc.constantFrom('', 'UTC', 'Europe/London')],
  [formatSettings.allowed, fc.constant({})],
  [SETTINGS.trustedOwners.rule.allowed, fc.uniqueArray(fc.nat(), { maxLength: 5 })],
  [SETTINGS.metricsListenAddresses.rule.allowed, fc.uniqueArray(address, { maxLength: 5 })],
]);

function anyValue(
  name: string,
  { rule: { type, allowed } }: Field<unknown>,
): fc.Arbitrary<unknown> {
  const known = BY_RULE.get(allowed);
  if (known !== undefined) return known;
  if (type === 'integer') {
    const [min = 0, max = 0] = (allowed.match(/\d+/g) ?? []).map(Number);
    return fc.integer({ min, max });
  }
  const choices = allowed.match(/"[^"]*"/g) ?? [];
  if (choices.join(' or ') !== allowed)
    throw new Error(`no values for ${name}: add its rule to BY_RULE`);
  return fc.constantFrom(...choices.map((choice) => choice.slice(1, -1)));
}

export const settings = fc.record(
  Object.fromEntries(Object.entries(SETTINGS).map(([as, field]) => [as, anyValue(as, field)])),
) as unknown as fc.Arbitrary<Settings>;
