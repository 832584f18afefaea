// Tests the settings of the format.
import { expect } from 'chai';
import { FORMATS } from '#app/targets/formats.js';

function problemsOf(settings: Readonly<Record<string, unknown>>): readonly string[] {
  const problems: string[] = [];
  FORMATS.get('multiprocess')?.rule.read(settings, ['format_settings'], (path, sentence) => {
    problems.push(`${path.join('.')}: ${sentence}`);
  });
  return problems;
}

describe('The settings of directories of metric files', () => {
  const valid: readonly Readonly<Record<string, unknown>>[] = [
    { directories: ['/run/shop'] },
    { directories: ['/run/shop/'] },
    { directories: ['/run/*/metrics'], label: 'service' },
    { directories: ['/run/a', '/run/b'], label: 'service' },
    { discover: 'environment', label: 'service' },
  ];
  for (const settings of valid)
    it(`may be ${JSON.stringify(settings)}`, () => {
      expect(problemsOf(settings)).to.deep.equal([]);
    });

  const invalid: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{}, /^format_settings.directories: found no directory, needed: an array .* or discover$/],
    [
      { directories: [] },
      /^format_settings.directories: found no directory, needed: an array .* or discover$/,
    ],
    [
      { directories: ['/run/*/metrics'] },
      /^format_settings.label: found nothing, needed: with "\*" a label name/,
    ],
    [{ directories: ['/run/a', '/run/b'] }, /^format_settings.label: .* with several directories/],
    [{ directories: ['/run/a', '/run/a/'], label: 'a' }, /^format_settings.directories.1: /],
    [{ discover: 'environment' }, /^format_settings.label: .* with discover a label name/],
    [
      { directories: ['run/a'] },
      /^format_settings.directories.0: found "run\/a", allowed: an absolute/,
    ],
    [{ directories: ['/run/*/*'], label: 'a' }, /^format_settings.directories.0: found/],
    [{ directories: ['/run/../a'] }, /^format_settings.directories.0: found/],
    [{ directories: ['/run/a'], label: 'pid' }, /^format_settings.label: found "pid", allowed/],
  ];
  for (const [settings, problem] of invalid)
    it(`may not be ${JSON.stringify(settings)}`, () => {
      expect(problemsOf(settings)).to.have.length(1);
      expect(problemsOf(settings)[0]).to.match(problem);
    });
});
