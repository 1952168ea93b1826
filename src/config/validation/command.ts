/** Commands: a list of texts, or one text with `shell: true`, and never nothing. */
import { isUnusable } from '../draft.ts';
import { printable, shorten } from '../text.ts';
import type { Path, TreeNode } from '../tree.ts';
import { argvOf } from '../words/argv.ts';

export interface Wrong {
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
}

const wrong = (message: string, hint: string, path: Path = []): Wrong => ({ path, message, hint });

interface Runnable {
  readonly command?: string | readonly (string | undefined)[] | undefined;
  readonly shell?: boolean | undefined;
}

/** `example`: a command as one would write it at this place. */
export function checkCommand(given: Runnable, written: TreeNode | undefined, example: string): Wrong | null {
  const { command, shell = false } = given;
  if (command === undefined || isUnusable(given, 'shell')) return null;
  if (typeof command === 'string') {
    if (command.trim() === '') return wrong('the command is empty', `Write: command: ${example}`);
    return shell || written?.kind !== 'scalar'
      ? null
      : wrong('a command is a list of texts, not one text', asList(written));
  }
  if (command.length === 0) return wrong('the command is empty', `Write: command: ${example}`);
  if (command[0] === '') return wrong('the name of the program is empty', 'Name the program to run.', [0]);
  if (!shell) return null;
  const items =
    written?.kind === 'list' ? written.items.map((item) => (item.kind === 'scalar' ? item.source : '')) : [];
  const line = printable(JSON.stringify(shorten(items.join(' '))));
  return wrong(
    'with "shell: true" the command is one text, not a list',
    `Remove "shell: true", or write: command: ${line}`,
  );
}

function asList(written: TreeNode): string {
  const argv = argvOf(written);
  if (argv !== null) return `Write: command: ${argv}`;
  return 'Add "shell: true" to run it with /bin/sh -c, or write: command: [program, argument]';
}
