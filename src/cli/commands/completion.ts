/** keepwell completion: what a shell needs to complete keepwell's words; and the hidden command that its scripts ask. */
import type { Command } from 'commander';
import { didYouMean } from '../../base/pure/suggest.ts';
import { usage } from '../call.ts';
import type { Definition } from '../define.ts';

const MAX_SHOWN = 50;

export const completion: Definition<object> = {
  usage: 'completion <bash|zsh|fish>',
  onlyHere: 'It asks no daemon: leave out -H.',
  asksNobody: true,
  group: 'More:',
  summary: 'print a shell script that completes commands, options and names',
  actions: [
    ['bash', 'add this line to ~/.bashrc: eval "$(keepwell completion bash)"'],
    ['zsh', 'add this line to ~/.zshrc, below compinit: eval "$(keepwell completion zsh)"'],
    ['fish', 'keepwell completion fish > ~/.config/fish/completions/keepwell.fish'],
  ],
  examples: [
    ['keepwell completion fish | source', 'in this shell only'],
    ['keepwell completion bash > ~/.local/share/bash-completion/completions/keepwell', 'for every new bash'],
  ],
  handler: async (call, [shell = '']) => {
    const { SCRIPTS, SHELLS } = await import('../complete/scripts.ts');
    const found = SHELLS.find((one) => one === shell);
    if (found === undefined) {
      const word = shell.slice(0, MAX_SHOWN);
      throw usage(`There is no completion for "${word}", only for ${SHELLS.join(', ')}.${didYouMean(word, SHELLS)}`);
    }
    call.printJson({ schema_version: 1, shell: found, script: SCRIPTS[found] });
    if (!call.json) call.world.out.write(SCRIPTS[found]);
    return 0;
  },
};

/** For the program that it is a part of. */
export const completeFor = (program: Command): Definition<object> => ({
  usage: '__complete [WORD...]',
  onlyHere: 'It asks no daemon: leave out -H.',
  asksNobody: true,
  group: 'More:',
  hidden: true,
  summary: 'what could stand at the end of this command line (asked by completion scripts)',
  examples: [['keepwell __complete -- status ""', 'component names, one per line']],
  handler: async ({ world }, words) => {
    try {
      const { answer } = await import('../complete/answer.ts');
      for (const line of await answer(program, words, world)) world.out.write(`${line}\n`);
    } catch {
      // Somebody is typing: no message could help now, and none may land in the middle of their line.
    }
    return 0;
  },
});
