// Writes the bash completion of a program.
import { formOf, optionsOf } from '../programs.js';

const ACTIONS = {
  file: 'mapfile -t COMPREPLY < <(compgen -f -- "$cur")',
  folder: 'mapfile -t COMPREPLY < <(compgen -d -- "$cur")',
  text: 'COMPREPLY=()',
};

export function bashCompletion({ program, commands }) {
  const words = Object.keys(commands);
  const all = [program, ...Object.values(commands)];
  const first = [...words, ...namesOf(program)];
  const body =
    words.length === 0
      ? [`  ${offer(first)}`]
      : [
          '  if ((COMP_CWORD == 1)); then',
          `    ${offer(first)}`,
          '    return',
          '  fi',
          '  case ${COMP_WORDS[1]} in',
          ...words.map((word) => `    ${word}) ${offerOf(commands[word])} ;;`),
          '  esac',
        ];
  return [
    `# bash completion of ${program.name}`,
    `_${program.name}() {`,
    '  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}',
    '  COMPREPLY=()',
    // Handle `--option=value`, which bash splits into three words.
    '  [[ $cur == = ]] && cur=',
    '  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}',
    '  case $prev in',
    ...choiceCases(all),
    ...argumentCases(all),
    '  esac',
    ...body,
    '}',
    `complete -o filenames -F _${program.name} ${program.name}`,
    '',
  ].join('\n');
}

const namesOf = (program) => optionsOf(program).map((option) => formOf(option).name);

const offer = (words) => `mapfile -t COMPREPLY < <(compgen -W '${words.join(' ')}' -- "$cur")`;

/** Completes the options of a command, and file names if the command has an operand. */
const offerOf = (command) =>
  command.operand === undefined
    ? offer(namesOf(command))
    : `mapfile -t COMPREPLY < <(compgen -f -W '${namesOf(command).join(' ')}' -- "$cur")`;

/** Completes the arguments of options that allow only a few words. */
const choiceCases = (programs) =>
  programs
    .flatMap(optionsOf)
    .filter(({ choices }) => choices.length > 0)
    .flatMap((option) => [
      `    ${formOf(option).name})`,
      `      ${offer(option.choices)}`,
      '      return',
      '      ;;',
    ]);

/** Completes the arguments of other options: file names, folder names, or nothing for free text. */
function argumentCases(programs) {
  const forms = programs
    .flatMap(optionsOf)
    .filter(({ choices }) => choices.length === 0)
    .map(formOf);
  return Object.entries(ACTIONS).flatMap(([kind, action]) => {
    const names = new Set(forms.filter(({ argument }) => argument === kind).map((f) => f.name));
    return names.size === 0
      ? []
      : [`    ${[...names].join('|')})`, `      ${action}`, '      return', '      ;;'];
  });
}
