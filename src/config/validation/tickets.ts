/** Trackers that could not work the way they are written. */
import type { TicketsConfig } from '../shape/tickets.ts';
import type { MapNode } from '../tree.ts';
import type { Draft } from '../walk.ts';
import { checkCommand } from './command.ts';
import { nodeAt, type Say } from './draft.ts';

export interface TicketsDraft {
  readonly tickets?: Draft<TicketsConfig> | undefined;
}

const EXAMPLE = '[./scripts/file-ticket]';
const MAX_TRACKERS = 20;

export function checkTickets({ tickets }: TicketsDraft, root: MapNode, say: Say): void {
  const trackers = tickets?.trackers ?? [];
  const at = ['tickets', 'trackers'];
  if (trackers.length > MAX_TRACKERS)
    say(at, `there are more than ${MAX_TRACKERS} trackers`, 'Keep the ones that are read.');
  const seen = new Map<string, number>();
  trackers.forEach((tracker, index) => {
    const path = [...at, index];
    const { command, github, local } = tracker ?? {};
    const wrong = command && checkCommand(command, nodeAt(root, [...path, 'command', 'command']), EXAMPLE);
    if (wrong) say([...path, 'command', 'command', ...wrong.path], wrong.message, withoutShell(wrong.hint));
    const place = github?.repo ?? (local && `dir ${local.dir ?? ''}`);
    if (place === undefined) return;
    if (seen.has(place))
      say(path, `leads to the same place as number ${seen.get(place)! + 1} of the list`, 'Remove one of them.');
    else seen.set(place, index);
  });
}

/** What crashed may have written anything: no shell reads it. */
const withoutShell = (hint: string): string =>
  hint.includes('shell: true') ? 'Write: command: [sh, -c, "one | two"]' : hint;
