// Writes the fish completion of a program.
import { formOf, optionsOf } from '../programs.js';

const ACTIONS = {
  file: ' -r -F',
  folder: " -x -a '(__fish_complete_directories)'",
  text: ' -x',
  none: '',
};

export function fishCompletion({ program, commands }) {
  const { name } = program;
  const words = Object.entries(commands);
  const none = words.length === 0 ? '' : ' -n __fish_use_subcommand';
  return [
    `# fish completion of ${name}`,
    `complete -c ${name} -f`,
    ...words.map(
      ([word, { purpose }]) => `complete -c ${name}${none} -a ${word} -d ${quoted(purpose)}`,
    ),
    ...optionsOf(program).map((option) => line(name, none, option)),
    ...words.flatMap(([word, command]) => {
      const inside = ` -n '__fish_seen_subcommand_from ${word}'`;
      const operand = command.operand === undefined ? [] : [`complete -c ${name}${inside} -F`];
      return [...operand, ...optionsOf(command).map((option) => line(name, inside, option))];
    }),
    '',
  ].join('\n');
}

function line(name, condition, option) {
  const form = formOf(option);
  const meaning = option.meaning.replaceAll('\n', ' ');
  return `complete -c ${name}${condition} -l ${form.name.slice(2)}${actionOf(option, form)} -d ${quoted(meaning)}`;
}

const actionOf = ({ choices }, { argument }) =>
  choices.length === 0 ? ACTIONS[argument] : ` -x -a ${quoted(choices.join(' '))}`;

const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
