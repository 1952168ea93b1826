/** The channels of the configuration, ready to send. */
import type { AlertsSpec, Channel } from './rules/alert.ts';
import { shortHash } from '../../base/pure/hash.ts';
import { redact } from '../../base/pure/redact.ts';
import type { CommandRunner } from '../../base/command.ts';
import type { Ask } from '../web.ts';
import { hostOf } from '../web-address.ts';
import { type ChannelSender, failure } from './channel.ts';
import { post } from './post.ts';
import { slackBody } from './slack.ts';

export interface SendersWorld {
  readonly ask: Ask;
  readonly commands: CommandRunner;
  readonly cwd: string;
  /** For commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that commands know and nobody should see. */
  secrets(): readonly string[];
}

const COMMAND_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_CHARS = 200;

export const sendersFor = ({ channels }: AlertsSpec, world: SendersWorld): readonly ChannelSender[] =>
  channels.map((channel) => ({ id: idOf(channel), ...senderFor(channel, world) }));

const idOf = (channel: Channel): string =>
  `${channel.kind}-${shortHash(channel.kind === 'command' ? channel.command.join('\0') : channel.url)}`;

function senderFor(channel: Channel, world: SendersWorld): Omit<ChannelSender, 'id'> {
  switch (channel.kind) {
    case 'webhook':
      return {
        name: `webhook at ${hostOf(channel.url)}`,
        send: (message, signal) => {
          const headers = { ...channel.headers, 'idempotency-key': message.id };
          return post(world.ask, { url: channel.url, headers, body: message }, signal);
        },
      };
    case 'slack':
      return {
        name: `slack at ${hostOf(channel.url)}`,
        send: (message, signal) => post(world.ask, { url: channel.url, body: slackBody(message) }, signal),
      };
    case 'command':
      return commandSender(channel.command, world);
    default:
      throw new Error(`no such channel: ${JSON.stringify(channel satisfies never)}`);
  }
}

function commandSender(command: readonly string[], world: SendersWorld): Omit<ChannelSender, 'id'> {
  const { commands, cwd, env, secrets } = world;
  return {
    name: `command ${command[0] ?? ''}`,
    send: async (message, signal) => {
      const input = `${JSON.stringify(message)}\n`;
      const result = await commands.run({ command, cwd, env, timeoutMs: COMMAND_TIMEOUT_MS, signal, input });
      if (result.kind === 'not-started')
        return failure(redact(result.problem.message, secrets()), result.problem.heals);
      if (result.kind === 'timed-out') return failure(`it did not end within ${COMMAND_TIMEOUT_MS / 1000} s`);
      if (result.code === 0) return { ok: true };
      // Before it is cut: half of a secret would not be recognised.
      const said = redact(result.output, secrets()).trim().slice(-MAX_OUTPUT_CHARS);
      const how = result.code === null ? `was killed by ${result.signal}` : `ended with ${result.code}`;
      return failure(`it ${how}${said === '' ? '' : `: ${said}`}`);
    },
  };
}
