import { Argument, type Command } from 'commander';
import type { Shell } from './shell.js';
import { TRIGGERS } from './triggers.js';

export function completionCommand(program: Command, { stdout }: Shell): void {
  program
    .command('completion')
    .description('a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      `
Examples:
  eval "$(recebe completion bash)"     in ~/.bashrc
  eval "$(recebe completion zsh)"      in ~/.zshrc, after compinit`,
    )
    .action((shell: 'bash' | 'zsh') => {
      const words = wordsOf(program, '');
      const known = `|${words.map(([path]) => path).join('|')}|`;
      const cases = words.map(([path, names]) => `    '${path}') choices='${names.join(' ')}' ;;`);
      stdout.write(`${SCRIPTS[shell](known, cases.join('\n'))}\n`);
    });
}

/** For each command the words that may follow it: its own commands, options and events. */
function wordsOf(command: Command, path: string): [path: string, words: string[]][] {
  const options = command.options.flatMap(({ long }) => long ?? []);
  const names = command.commands.map((inner) => inner.name());
  const events = path === 'trigger' ? [...Object.keys(TRIGGERS), 'report.failed'] : [];
  const shells = path === 'completion' ? ['bash', 'zsh'] : [];
  return [
    [path, [...names, ...events, ...shells, ...options, '--help']],
    ...command.commands.flatMap((inner) => wordsOf(inner, `${path} ${inner.name()}`.trim())),
  ];
}

/** Walks from word to word to the deepest known command; options and arguments are passed over. */
const walk = (words: string, known: string, cases: string): string => `  local choices='' command='' word
  for word in "${words}"; do
    case '${known}' in *"|\${command:+$command }$word|"*) command="\${command:+$command }$word" ;; esac
  done
  case "$command" in
${cases}
  esac`;

const SCRIPTS = {
  bash: (known: string, cases: string) => `_recebe() {
${walk('${COMP_WORDS[@]:1:COMP_CWORD-1}', known, cases)}
  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _recebe recebe`,
  zsh: (known: string, cases: string) => `_recebe() {
${walk('${(@)words[2,CURRENT-1]}', known, cases)}
  compadd -- \${=choices}
}
compdef _recebe recebe`,
};
