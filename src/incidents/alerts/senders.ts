/** The channels of the configuration, ready to send. */

import type { CommandRunner } from '../../base/command.ts';
import { shortHash } from '../../base/pure/hash.ts';
import { redact } from '../../base/pure/redact.ts';
import { retryAfterMs } from '../../base/pure/retry-after.ts';
import { type DeliveryResult, later, refused } from '../delivery-queue.ts';
import { someOf } from '../rules/words.ts';
import { type Ask, type HttpAnswer, hostOf } from '../web.ts';
import type { AlertsSpec, Channel } from './rules/book.ts';
import type { AlertItem, AlertMessage } from './rules/message.ts';

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
      if (result.kind === 'not-started') {
        const problem = redact(result.problem.message, secrets());
        return result.problem.heals ? later(problem) : refused(problem);
      }
      if (result.kind === 'timed-out') return later(`it did not end within ${COMMAND_TIMEOUT_MS / 1000} s`);
      if (result.code === 0) return { ok: true };
      // Before it is cut: half of a secret would not be recognised.
      const said = redact(result.output, secrets()).trim().slice(-MAX_OUTPUT_CHARS);
      const how = result.code === null ? `was killed by ${result.signal}` : `ended with ${result.code}`;
      return later(`it ${how}${said === '' ? '' : `: ${said}`}`);
    },
  };
}

// Posts JSON and tells what came of it.

const TIMEOUT_MS = 10_000;
const RETRIED: ReadonlySet<number> = new Set([408, 421, 425, 429]);

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export async function post(ask: Ask, { url, headers = {}, body }: Post, signal: AbortSignal): Promise<DeliveryResult> {
  const outcome = await ask({ method: 'POST', url, headers, body, timeoutMs: TIMEOUT_MS, reads: 'head' }, signal);
  return outcome.kind === 'failed' ? later(outcome.why) : answered(outcome.answer);
}

function answered(answer: HttpAnswer): DeliveryResult {
  const { status } = answer;
  if (status >= 200 && status < 300) return { ok: true };
  if (status >= 300 && status < 400) return refused(`it answered ${status}: redirects are not followed`);
  const problem = `it answered ${status}`;
  return status >= 500 || RETRIED.has(status) ? later(problem, retryAfterMs(answer)) : refused(problem);
}

// The message in the form of Slack's incoming webhooks. Blocks are plain text, so nothing in them is a link or a mention.

const MAX_BLOCK_CHARS = 2_900;
const MAX_BLOCKS = 20;
const MARK: Readonly<Record<AlertItem['state'], string>> = { raised: 'New', still: 'Still there', over: 'Recovered' };

/** The short text is read as markup: these three are what begins a link or a mention. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const block = (text: string) => ({
  type: 'section',
  text: { type: 'plain_text', text: text.slice(0, MAX_BLOCK_CHARS), emoji: false },
});

export function slackBody({ text, alerts }: AlertMessage) {
  const shown = alerts.slice(0, MAX_BLOCKS);
  const rest = alerts.length - shown.length;
  return {
    text: escaped(text),
    blocks: [
      ...shown.map(({ state, text: what, joined, incident, ticket }) => {
        const mark = joined.length === 0 ? MARK[state] : `Now also ${someOf(joined)}`;
        const refs = [...(incident === null ? [] : [`incident ${incident}`]), ...(ticket === null ? [] : [ticket])];
        return block(`${mark}: ${what}${refs.length > 0 ? ` (${refs.join(', ')})` : ''}`);
      }),
      ...(rest > 0 ? [block(`and ${rest} more`)] : []),
    ],
  };
}

// One way to people.

export interface ChannelSender {
  /** The same for the same target, and no secret: what is under way is kept by it. */
  readonly id: string;
  /** For people: "slack at hooks.slack.com". */
  readonly name: string;
  /** Never rejects, and gives up by itself. */
  send(message: AlertMessage, signal: AbortSignal): Promise<DeliveryResult>;
}
