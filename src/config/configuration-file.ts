// The configuration file as a document; a catalogue in its place is refused as such.
import { invalid } from '../document/document.js';
import type { SettingsDocument } from '../document/document.js';
import { readToml } from '../document/toml-file.js';
import { isTable } from '../rules/table.js';

/** @throws Fault CONFIG_INVALID when the file cannot be read, is not TOML or is a catalogue */
export function readConfigurationFile(file: string): SettingsDocument {
  const document = readToml(file);
  const { classes } = document.values;
  // As a setting, `classes` is an array of strings; only a catalogue has [[classes]] tables.
  if (!Array.isArray(classes) || !classes.some(isTable)) return document;
  const offset = document.places.offset(['classes'], 'key') ?? 0;
  const text =
    'found [[classes]] tables, so this looks like a catalogue; name it in catalogue_files of a configuration';
  throw invalid(document.places, [{ offset, text }]);
}
