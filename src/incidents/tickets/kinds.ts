/** Every kind of tracker. A new one is a file in `kinds/` and a name here. */

import { namedKinds, type ResolvedBy } from '../../config/kind.ts';
import { command } from './kinds/command.ts';
import { github } from './kinds/github.ts';
import { local } from './kinds/local.ts';
import { webhook } from './kinds/webhook.ts';

/** In the order in which pages and messages list them. */
export const TRACKER_KINDS = namedKinds({ local, github, webhook, command });

/** A tracker of the configuration, complete but for its name. */
export type NamelessTracker = ResolvedBy<typeof TRACKER_KINDS>;

/** A tracker of the configuration, complete. */
export type TrackerSpec = { readonly name: string } & NamelessTracker;
