/** Templates of sessions that could not work the way they are written. */
import { DEFAULTS } from '../defaults.ts';
import { durationText } from '../duration.ts';
import type { SessionsConfig, TemplateConfig } from '../shape/sessions.ts';
import type { MapNode, Path } from '../tree.ts';
import type { Draft } from '../walk.ts';
import { checkCommands } from './container.ts';
import { isUnusable, nodeAt, type Say } from './draft.ts';

export interface SessionsDraft {
  readonly sessions?: Draft<SessionsConfig> | undefined;
}

type Template = Draft<TemplateConfig>;
type CheckBackoff = (of: { readonly restart?: Template['restart'] }, path: Path, say: Say) => void;

export function checkSessions({ sessions }: SessionsDraft, root: MapNode, say: Say, checkBackoff: CheckBackoff): void {
  const at = ['sessions', 'templates'];
  const written = nodeAt(root, at);
  if (written?.kind !== 'map' || !sessions?.templates) return;
  if (written.entries.size === 0) say(at, 'there are no templates', 'Name at least one, or remove "sessions".');
  for (const name of written.entries.keys()) {
    const template = sessions.templates[name];
    if (!template) continue;
    const path = [...at, name];
    checkTimes(template, path, say);
    checkCommands(template, nodeAt(written, [name]), path, say);
    checkBackoff({ restart: template.restart }, [...path, 'restart', 'backoff'], say);
    if (template.port !== undefined && template.network === 'none') {
      say([...path, 'port'], 'a container without a network has no ports', 'Remove port, or "network: none".');
    }
  }
}

function checkTimes(template: Template, path: Path, say: Say): void {
  const { ttl, max_ttl: max } = template;
  if (max === undefined || isUnusable(template, 'ttl') || max >= (ttl ?? DEFAULTS.sessions.ttlMs)) return;
  const given = ttl === undefined ? `${durationText(DEFAULTS.sessions.ttlMs)} (the default)` : durationText(ttl);
  say(
    [...path, 'max_ttl'],
    `max_ttl is ${durationText(max)}, which is less than ttl, ${given}`,
    'Raise max_ttl, or lower ttl.',
  );
}
