/** Runs a program on this machine: the alert as JSON on its standard input, never through a shell. */

import { z } from 'zod';
import { redact } from '../../../base/pure/redact.ts';
import { nodeAt } from '../../../config/draft.ts';
import { optional, text } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { checkCommand } from '../../../config/validation/command.ts';
import { argvOf, bareCommand, isGiven } from '../../../config/words/argv.ts';
import { later, refused } from '../../delivery-queue.ts';
import type { ChannelKind } from '../kind.ts';

export interface CommandChannel {
  readonly kind: 'command';
  readonly command: readonly string[];
}

const schema = optional(
  z.strictObject({
    command: z.array(text).meta({
      description: 'A program and its arguments, one list item each. It reads the alert as JSON from its input.',
      example: ['notify-send', 'Keepwell'],
    }),
  }),
  { description: 'A program on this machine. No shell is involved.', defaultNote: 'none' },
);

const EXAMPLE = '[notify-send, Keepwell]';
const WITH_SHELL = '[sh, -c, "one | two"]';
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_CHARS = 200;

export const command = {
  schema,
  missing: { command: refuse('the command is missing', `Write: command: ${EXAMPLE}`) },
  words: ['exec', 'script', 'cmd', 'run'],
  inside: { command: ['cmd', 'args', 'argv', 'exec', 'script'] },
  instead: { shell: `Remove it, and write: command: ${WITH_SHELL}` },
  forms: {
    '': bareCommand(EXAMPLE),
    command: (node) =>
      isGiven(node)
        ? refuse('a command is a list of texts, not one text', `Write: command: ${argvOf(node) ?? WITH_SHELL}`)
        : null,
  },
  check: (config, written, path, say) => {
    const wrong = checkCommand(config, nodeAt(written, ['command']), EXAMPLE);
    if (wrong) say([...path, 'command', ...wrong.path], wrong.message, wrong.hint);
  },
  place: ({ command }) => command?.join('\0'),
  resolve: ({ command }): CommandChannel => ({ kind: 'command', command }),
  describe: ({ command: [program = ''] }) => `command ${program}`,
  send: async ({ command }, message, { commands, cwd, env, secrets }, signal) => {
    const input = `${JSON.stringify(message)}\n`;
    const result = await commands.run({ command, cwd, env, timeoutMs: TIMEOUT_MS, signal, input });
    if (result.kind === 'not-started') {
      const problem = redact(result.problem.message, secrets());
      return result.problem.heals ? later(problem) : refused(problem);
    }
    if (result.kind === 'timed-out') return later(`it did not end within ${TIMEOUT_MS / 1000} s`);
    if (result.code === 0) return { ok: true };
    // Before it is cut: half of a secret would not be recognised.
    const said = redact(result.output, secrets()).trim().slice(-MAX_OUTPUT_CHARS);
    const how = result.code === null ? `was killed by ${result.signal}` : `ended with exit code ${result.code}`;
    return later(`it ${how}${said === '' ? '' : `: ${said}`}`);
  },
} satisfies ChannelKind<typeof schema, CommandChannel>;
