/** The commands that people and scripts call again and again: known without loading any other. */
import type { Command } from 'commander';
import { beat } from './commands/beat.ts';
import { logs } from './commands/logs.ts';
import { status } from './commands/status.ts';
import { top } from './commands/top.ts';
import { version } from './commands/version.ts';
import { wait } from './commands/wait.ts';
import { why } from './commands/why.ts';
import type { AnyDefinition, Host } from './define.ts';
import { programWith } from './program-frame.ts';

const QUICK: readonly AnyDefinition[] = [status, why, logs, wait, beat, top, version];

/** A program of one command; null: it takes all of them to know what was meant. */
export function quickProgram([word]: readonly string[], host: Host): Command | null {
  const found = QUICK.find(({ usage, aliases = [] }) => [usage.split(' ')[0], ...aliases].includes(word));
  return found === undefined ? null : programWith([found], host);
}
