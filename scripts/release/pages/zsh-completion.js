// Writes the zsh completion of a program.
import { formOf, optionsOf } from '../programs.js';

const ACTIONS = { file: '_files', folder: '_files -/', text: ' ' };

export function zshCompletion({ program, commands }) {
  const words = Object.entries(commands);
  const body = words.length === 0 ? argumentsLine(program) : commandLines(program, words);
  return [`#compdef ${program.name}`, '', ...body, ''].join('\n');
}

const commandLines = (program, words) => [
  'if ((CURRENT == 2)); then',
  `  local -a commands=(${words.map(([word, { purpose }]) => quoted(`${word}:${purpose}`)).join(' ')})`,
  "  _describe 'command' commands",
  ...argumentsLine(program).map((line) => `  ${line}`),
  'else',
  '  local command=${words[2]}',
  '  shift words',
  '  ((CURRENT--))',
  '  case $command in',
  ...words.flatMap(([word, command]) => [
    `    ${word})`,
    ...argumentsLine(command).map((line) => `      ${line}`),
    '      ;;',
  ]),
  '  esac',
  'fi',
];

const argumentsLine = (program) => {
  const specs = optionsOf(program).map(specOf);
  const operand = program.operand === undefined ? [] : [quoted(`1:${program.operand}:_files`)];
  return [`_arguments ${[...specs, ...operand].join(' ')}`];
};

function specOf(option) {
  const { name, argument } = formOf(option);
  const meaning = option.meaning.replaceAll('\n', ' ').replace(/[[\]:]/g, '\\$&');
  return quoted(
    `${name}[${meaning}]${argument === 'none' ? '' : `:${argument}:${actionOf(option, argument)}`}`,
  );
}

const actionOf = ({ choices }, argument) =>
  choices.length === 0 ? ACTIONS[argument] : `(${choices.join(' ')})`;

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
