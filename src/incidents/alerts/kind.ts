/** What a file in `kinds/` says about its way to people, and what it has at hand to send. */

import type { z } from 'zod';
import type { CommandRunner } from '../../base/command.ts';
import type { Draft } from '../../config/draft.ts';
import type { ConfigOf, EntryKind } from '../../config/kind.ts';
import type { DeliveryResult } from '../delivery-queue.ts';
import type { Ask } from '../web.ts';
import type { AlertMessage } from './rules/message.ts';

/** One of them, whichever. */
export type AnyChannelKind = ChannelKind<z.ZodType, { readonly kind: string }>;

/** `C`: a channel of this kind, complete. It still has the keys by which its place is known. */
export interface ChannelKind<S extends z.ZodType, C extends Draft<ConfigOf<S>> & { readonly kind: string }>
  extends EntryKind<S> {
  resolve(config: ConfigOf<S>): C;
  /** For people, and no secret: "slack at hooks.slack.com". */
  describe(channel: C): string;
  /** Never rejects, and gives up by itself. */
  send(channel: C, message: AlertMessage, parts: ChannelParts, signal: AbortSignal): Promise<DeliveryResult>;
}

export interface ChannelParts {
  readonly ask: Ask;
  readonly commands: CommandRunner;
  readonly cwd: string;
  /** For commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that commands know and nobody should see. */
  secrets(): readonly string[];
}
