/** Tells a command: the ticket as JSON on its standard input, never through a shell. It may answer with a line of JSON: {"url": "…"}. */

import { z } from 'zod';
import { formatDuration } from '../../../base/pure/format.ts';
import { shortHash } from '../../../base/pure/hash.ts';
import { fieldsOf, parseJson } from '../../../base/pure/json.ts';
import { redact } from '../../../base/pure/redact.ts';
import { DEFAULTS } from '../../../config/defaults.ts';
import { nodeAt } from '../../../config/draft.ts';
import { optional, text } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { checkCommand } from '../../../config/validation/command.ts';
import { bareCommand } from '../../../config/words/argv.ts';
import { halt, later } from '../../delivery-queue.ts';
import { shownAddress } from '../../web.ts';
import { messageOf, type ResolvedTracker, type TrackerKind, timeout } from '../kind.ts';
import { cleanLine } from '../rules/text.ts';

export interface CommandTracker extends ResolvedTracker {
  readonly kind: 'command';
  readonly command: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
}

const schema = optional(
  z.strictObject({
    command: z.union([z.array(text), text]).meta({
      description:
        'The program and its arguments, one list item each. It gets each ticket as JSON on its standard input.',
      example: ['./scripts/file-ticket'],
    }),
    timeout,
  }),
  { description: 'Any program.', defaultNote: 'none' },
);

const EXAMPLE = '[./scripts/file-ticket]';
const MAX_WORDS_CHARS = 300;

export const command = {
  schema,
  missing: { command: refuse('the command is missing', `Write: command: ${EXAMPLE}`) },
  words: ['exec', 'script'],
  inside: { command: ['cmd', 'args', 'argv', 'exec', 'script'], timeout: [] },
  instead: { shell: 'Remove it: what crashed must never be read by a shell.' },
  forms: { '': bareCommand(EXAMPLE) },
  check: (config, written, path, say) => {
    const wrong = checkCommand(config, nodeAt(written, ['command']), EXAMPLE);
    if (wrong) say([...path, 'command', ...wrong.path], wrong.message, withoutShell(wrong.hint));
  },
  place: () => undefined, // what it does with a ticket may depend on its arguments
  resolve: ({ command, timeout: timeoutMs = DEFAULTS.tickets.timeoutMs }, { dir: cwd }): CommandTracker => {
    const argv = command as readonly string[]; // one text was refused above
    return { kind: 'command', target: shortHash(argv.join('\0')), command: argv, cwd, timeoutMs };
  },
  keepsCopy: false,
  isElsewhere: true,
  deliver: async ({ command, cwd, timeoutMs }, delivery, { commands, env, secrets }, signal) => {
    const [program = ''] = command;
    const input = `${JSON.stringify(messageOf(delivery))}\n`;
    const result = await commands.run({ command, cwd, env, timeoutMs, signal, input });
    if (result.kind === 'not-started') {
      const { heals } = result.problem;
      const message = redact(result.problem.message, secrets());
      return heals ? later(message) : halt(message);
    }
    if (result.kind === 'timed-out') return later(`${program} did not end within ${formatDuration(timeoutMs)}`);
    if (result.code === 0) {
      return { ok: true, id: delivery.id ?? program, address: addressIn(result.output) ?? delivery.address };
    }
    const how = result.code === null ? `was ended by ${result.signal}` : `ended with exit code ${result.code}`;
    const words = cleanLine(lastLine(redact(result.output, secrets())), MAX_WORDS_CHARS);
    return later(`${program} ${how}${words === '' ? '' : `: ${words}`}`);
  },
} satisfies TrackerKind<typeof schema, CommandTracker>;

/** What crashed may have written anything: no shell reads it. */
const withoutShell = (hint: string): string =>
  hint.includes('shell: true') ? 'Write: command: [sh, -c, "one | two"]' : hint;

/** The last line that is an object with an address. */
function addressIn(output: string): string | null {
  const line = output.split('\n').findLast((one) => shownAddress(fieldsOf(parseJson(one))?.['url']) !== null);
  return line === undefined ? null : shownAddress(fieldsOf(parseJson(line))?.['url']);
}

const lastLine = (output: string): string => output.split('\n').findLast((line) => line.trim() !== '') ?? '';
