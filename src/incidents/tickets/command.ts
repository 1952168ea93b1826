/** Tells a command: the ticket as JSON on its standard input, never through a shell. It may answer with a line of JSON: {"url": "…"}. */

import type { CommandRunner } from '../../base/command.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { fieldsOf, parseJson } from '../../base/pure/json.ts';
import { redact } from '../../base/pure/redact.ts';
import { halt, later } from '../delivery-queue.ts';
import { webAddress } from '../web.ts';
import { messageOf, type Tracker } from './ports.ts';
import type { TrackerSpec } from './rules/settings.ts';
import { cleanLine } from './rules/text.ts';

type CommandSpec = Extract<TrackerSpec, { kind: 'command' }>;

export interface CommandParts {
  readonly commands: CommandRunner;
  /** The environment of the daemon. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that commands know and nobody should see. */
  secrets(): readonly string[];
}

const MAX_WORDS_CHARS = 300;

export function createCommandTracker(spec: CommandSpec, { commands, env, secrets }: CommandParts): Tracker {
  const { name, target, command, cwd, timeoutMs } = spec;
  const program = command[0] ?? '';
  return {
    name,
    target,
    keepsCopy: false,
    async deliver(delivery, signal) {
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
  };
}

/** The last line that is an object with an address. */
function addressIn(output: string): string | null {
  const line = output.split('\n').findLast((one) => webAddress(fieldsOf(parseJson(one))?.['url']) !== null);
  return line === undefined ? null : webAddress(fieldsOf(parseJson(line))?.['url']);
}

const lastLine = (output: string): string => output.split('\n').findLast((line) => line.trim() !== '') ?? '';
