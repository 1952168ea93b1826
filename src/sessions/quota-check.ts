/** Whether there is room for one more session: counted from the labels of what exists, and from what is just being made. */
import { isLeaving } from '../supervision/rules/container-facts.ts';
import { LABELS } from '../docker/rules/labels.ts';
import { AppError } from '../base/pure/errors.ts';
import { type Place, type Refusal, refusal } from './rules/quota.ts';
import { tagsOf } from './rules/tags.ts';
import type { SessionTemplate } from './rules/template.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { Hand } from './live-session.ts';

interface Room {
  readonly engine: EngineClient;
  readonly owner: string;
  hands(): readonly Hand[];
  readonly user: string;
  readonly template: SessionTemplate;
  readonly max: number;
}

/** What comes out throws when there is none. It must be called in the same turn in which the place is taken: others ask, too. */
export async function countRoom(
  { engine, owner, hands, ...asked }: Room,
  signal: AbortSignal,
): Promise<{ check(): void }> {
  const before = new Set(hands().filter((hand) => !hand.isBeingMade));
  // Only fixed texts go into the filter. Users are compared here: their ids can be any text.
  const listing = await engine.list([`${LABELS.owner}=${owner}`, LABELS.session], signal);
  if (listing.kind === 'unreachable') throw new AppError('ENGINE_UNREACHABLE', { problem: listing.why });
  const listed = listing.items.flatMap((item): Place[] => {
    const tags = isLeaving(item.status) ? null : tagsOf(item.labels);
    return tags ? [tags] : [];
  });
  return {
    check: () => {
      // Those that came into being after the list was taken, or have no container yet.
      const newer = hands().filter((hand) => !before.has(hand) && hand.record.end === null);
      refuse(refusal(asked, [...listed, ...newer.map(({ record }) => record)]), asked);
    },
  };
}

function refuse(refused: Refusal | null, asked: Pick<Room, 'user' | 'template' | 'max'>): void {
  if (refused === null) return;
  if (refused.kind === 'total') throw new AppError('SESSIONS_FULL', { count: refused.count, limit: asked.max });
  const { user, template } = asked;
  const sessions = refused.sessions.join(', ');
  throw new AppError('SESSION_QUOTA', { user, template: template.name, limit: template.perUser, sessions });
}
