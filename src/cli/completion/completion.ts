// `completion`: prints what a shell loads, so that TAB finishes what is typed behind `lossproof`.
import type { Command } from 'commander';
import { nearestName } from '../../protocol/nearest.ts';
import { refuse } from '../context.ts';
import { HOLDS } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { isShell, SHELLS, scriptOf } from './shells.ts';

export function addCompletion(program: Command, { context, finish }: Invocation): void {
  tell(program.command('completion'), WORDS)
    .summary('let your shell finish what you type')
    .description('print what a shell loads so that TAB finishes a command')
    .argument('[shell]', SHELLS.join(', '))
    .action((shell: string | undefined) => {
      if (shell !== undefined && isShell(shell)) {
        context.out.write(scriptOf(shell), 'document');
        finish(HOLDS);
      } else finish(refuse(context, { problem: problemOf(shell) }));
    });
}

const WORDS: Words = {
  examples: [
    {
      command:
        'mkdir -p ~/.local/share/bash-completion/completions && lossproof completion bash > ~/.local/share/bash-completion/completions/lossproof',
    },
    { command: 'mkdir -p "$fpath[1]" && lossproof completion zsh > "$fpath[1]/_lossproof"' },
    {
      command:
        'mkdir -p ~/.config/fish/completions && lossproof completion fish > ~/.config/fish/completions/lossproof.fish',
    },
    { command: 'eval "$(lossproof completion bash)"', does: 'for this shell only; zsh takes it, too' },
  ],
  listing: {
    heading: 'It is for a command called lossproof. Where npx starts it, this makes it one:',
    lines: ['lossproof() { npx -- lossproof "$@"; }'],
  },
  notes: [
    'It finishes commands, options, their values, ids of properties, the trainers of lossproof.config.json and saved cases; behind --, what your shell finishes of itself.',
  ],
};

function problemOf(shell: string | undefined): string {
  if (shell === undefined)
    return `name the shell, ${SHELLS.join(', ')}, as in \`lossproof completion ${SHELLS[0]}\``;
  const near = nearestName(shell, SHELLS);
  const hint = near === undefined ? `there are ${SHELLS.join(', ')}` : `did you mean "${near}"?`;
  return `no completion is written for the shell "${shell}", ${hint}`;
}
