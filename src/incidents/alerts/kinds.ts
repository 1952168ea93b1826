/** Every kind of alert channel. A new one is a file in `kinds/` and a name here. */

import { namedKinds, type ResolvedBy } from '../../config/kind.ts';
import { command } from './kinds/command.ts';
import { discord } from './kinds/discord.ts';
import { email } from './kinds/email.ts';
import { ntfy } from './kinds/ntfy.ts';
import { slack } from './kinds/slack.ts';
import { teams } from './kinds/teams.ts';
import { webhook } from './kinds/webhook.ts';

/** In the order in which pages and messages list them. */
export const CHANNEL_KINDS = namedKinds({ webhook, slack, discord, teams, ntfy, email, command });

/** A channel of the configuration, complete. */
export type Channel = ResolvedBy<typeof CHANNEL_KINDS>;
