// Writes the manual page of a program in roff, from the same tables as --help.
import { effectOf } from '../../../dist/rules/command-option.js';
import { usageOf } from '../../../dist/rules/program.js';
import { NAMES, optionsOf } from '../programs.js';

/** @param date the date of the release, as YYYY-MM-DD */
export function manPage({ program, commands }, { version, date }) {
  const { name, purpose, remarks, examples, statuses, reference } = program;
  const own = Object.entries(commands);
  const sections = [
    [`.TH ${name.toUpperCase()} 1 "${date}" "shm_exporter ${version}"`],
    ['.SH NAME', `${name} \\- ${summaryOf(purpose)}`],
    ['.SH SYNOPSIS', `.B ${name}`, plain(usageOf(program))],
    ['.SH DESCRIPTION', ...paragraph(purpose)],
    own.length === 0 && remarks !== undefined ? paragraph(remarks) : [],
    own.length === 0 ? [] : ['.SH COMMANDS', ...own.flatMap(commandLines)],
    ['.SH OPTIONS', ...optionLines(program)],
    ['.SH EXAMPLES', ...exampleLines(examples)],
    ['.SH EXIT STATUS', ...Object.entries(statuses).flatMap(([s, m]) => ['.TP', s, plain(m)])],
    ['.SH SEE ALSO', seeAlso(name), ...paragraph(reference)],
  ];
  return `${sections.flat().join('\n')}\n`;
}

const commandLines = ([word, command]) => [
  `.SS ${plain(`${word} ${usageOf(command)}`)}`,
  ...paragraph(command.purpose),
  ...Object.values(command.options).flatMap(optionLine),
];

/** All options, with a heading for each group of options. */
function optionLines(program) {
  let group;
  return optionsOf(program).flatMap((option) => {
    const heading = option.group === group ? [] : [`.SS ${plain(option.group ?? 'Options')}`];
    group = option.group;
    return [...heading, ...optionLine(option)];
  });
}

const optionLine = (option) => {
  const [flag, argument] = option.flags.split(' ');
  return [
    '.TP',
    `.B ${plain(flag)}${argument === undefined ? '' : ` \\fI${plain(argument)}\\fR`}`,
    plain(effectOf(option)),
  ];
};

const exampleLines = (examples) =>
  examples.flatMap(([purpose, line]) => [
    '.PP',
    `${plain(purpose)}:`,
    ...['.PP', '.nf', '.RS', plain(line), '.RE', '.fi'],
  ]);

const seeAlso = (name) =>
  NAMES.filter((other) => other !== name)
    .map((other) => `.BR ${other} (1)`)
    .join(' ,\n');

const paragraph = (text) => ['.PP', ...plain(text).split('\n')];

/** The summary for the NAME section: the purpose up to its first period or colon, with a small first letter. */
function summaryOf(purpose) {
  const [sentence] = purpose.replaceAll('\n', ' ').split(/[:.](?:\s|$)/);
  return plain(`${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`);
}

/** Escapes text for roff. A line that begins with a dot or a quote would otherwise be a request. */
const plain = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
