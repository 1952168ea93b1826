/** Real shells that complete a line: each with the script that the program prints, and the program itself in its PATH. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { SCRIPTS, type Shell } from '../../../src/cli/complete/scripts.ts';

export interface Completion {
  /** A folder with a project in it. */
  readonly cwd: string;
  /** A folder for scripts and for what the shells leave behind. */
  readonly own: string;
  /** The program: a file for Node. */
  readonly program: string;
}

/** Generous: three processes start, on a machine that has other things to do. */
const TIMEOUT_MS = 60_000;

export function requireShell(shell: Shell, { skip }: TestContext): void {
  if (spawnSync(shell, ['--version'], { stdio: 'ignore' }).status === 0) return;
  if (process.env['KEEPWELL_REQUIRE_ALL'] === '1')
    throw new Error(`${shell} is not installed here: apt install ${shell}`);
  skip(`${shell} is not installed here: apt install ${shell}`);
}

/** What the shell makes of the line when Tab is pressed: candidates, or for zsh the line itself. */
export function complete(shell: Shell, line: string, service: Completion): readonly string[] {
  mkdirSync(`${service.own}/bin`, { recursive: true });
  const path = `${service.own}/bin/keepwell`;
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${service.program}' "$@"\n`, { mode: 0o755 });
  writeFileSync(`${service.own}/script`, SCRIPTS[shell]);
  const [command, ...args] = COMMANDS[shell](line, `${service.own}/script`);
  const said = execFileSync(command!, args, {
    cwd: service.cwd,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    env: { PATH: `${service.own}/bin:${process.env['PATH']}`, HOME: service.own, TERM: 'dumb', LANG: 'C.UTF-8' },
  });
  return said.split('\n').filter((one) => one !== '');
}

/** What bash does before it calls the function, its word breaks included. */
const BASH = `
source "$2"
IFS=' ' read -ra COMP_WORDS <<< "\${1//=/ = }"
[[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_keepwell keepwell "\${COMP_WORDS[COMP_CWORD]}"
printf '%s\\n' "\${COMPREPLY[@]}"
`;

/** A terminal of its own, because nobody completes without one. Control-X says what the line has become. */
const ZSH = `
zmodload zsh/zpty
zpty inner zsh -f -i
read_until() { local all piece; while zpty -r inner piece; do all+=$piece; [[ $all == *$1* ]] && break; done; said=$all }
zpty -w inner 'PS1=; unsetopt zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -u -D'
zpty -w inner "source $2"
zpty -w inner 'show() { zle -I; print -r -- "<<$BUFFER>>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^X" show'
zpty -w inner 'print -r -- rea""dy'
read_until ready
zpty -w -n inner "$1"$'\\t\\x18'
read_until '>>'
print -r -- \${\${said##*<<}%%>>*}
zpty -d inner
`;

const COMMANDS: Readonly<Record<Shell, (line: string, script: string) => readonly string[]>> = {
  bash: (line, script) => ['bash', '--norc', '-c', BASH, 'bash', line, script],
  zsh: (line, script) => ['zsh', '-f', '-c', ZSH, 'zsh', line, script],
  fish: (line, script) => ['fish', '--no-config', '-c', 'source $argv[2]; complete -C $argv[1]', line, script],
};
