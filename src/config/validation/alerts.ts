/** Channels of alerts that could not work the way they are written. */
import type { AlertsConfig } from '../shape/alerts.ts';
import type { MapNode } from '../tree.ts';
import type { Draft } from '../walk.ts';
import { checkCommand } from './command.ts';
import { nodeAt, type Say } from './draft.ts';

export interface AlertsDraft {
  readonly alerts?: Draft<AlertsConfig> | undefined;
}

const EXAMPLE = '[notify-send, Keepwell]';

export function checkAlerts({ alerts }: AlertsDraft, root: MapNode, say: Say): void {
  const seen = new Map<string, number>();
  (alerts?.channels ?? []).forEach((channel, index) => {
    const path = ['alerts', 'channels', index];
    const { webhook, slack, command } = channel ?? {};
    const wrong = command && checkCommand(command, nodeAt(root, [...path, 'command', 'command']), EXAMPLE);
    if (wrong) say([...path, 'command', 'command', ...wrong.path], wrong.message, wrong.hint);
    // What waits to be sent is kept by where it goes to: two ways to one place would get in each other's way.
    const place = webhook?.url ?? slack?.url ?? command?.command?.join('\0');
    if (place === undefined) return;
    if (seen.has(place))
      say(path, `leads to the same place as number ${seen.get(place)! + 1} of the list`, 'Remove one of them.');
    else seen.set(place, index);
  });
}
