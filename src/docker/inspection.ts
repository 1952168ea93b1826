/**
 * Whether a file is there in a container, asked without running anything in it: HEAD on the archive of its path. That works in
 * images without a shell and whatever user the container has, and it sees volumes and bind mounts. It sees neither memory that is
 * mounted (tmpfs, /dev/shm) nor /proc, /sys and /dev: those exist only for the processes in the container.
 */
import type { Look } from './ports.ts';
import { type Answer, type Caller, isUnreachable, odd, unreachable } from './caller.ts';
import { fieldsOf, parseJson, parseMessage } from './json.ts';

const STAT_HEADER = 'x-docker-container-path-stat';
/** Docker follows all links itself; others that speak its language need not. */
const MAX_LINKS = 8;
/** The path leads through a file, or its links lead in a circle: such a path names nothing. */
const NAMES_NOTHING = /not a directory|too many (links|levels of symbolic links)|file name too long/i;

export async function look(caller: Caller, id: string, path: string, signal: AbortSignal): Promise<Look> {
  for (let links = 0, at = path; links <= MAX_LINKS; links++) {
    const found = await stat(caller, id, at, signal);
    // Of a link the Engine says where it leads, and not whether something is there.
    if (found.kind !== 'link') return found;
    at = found.target;
  }
  return { kind: 'absent' };
}

type Stat = Look | { readonly kind: 'link'; readonly target: string };

async function stat(caller: Caller, id: string, path: string, signal: AbortSignal): Promise<Stat> {
  const address = `/containers/${encodeURIComponent(id)}/archive?path=${encodeURIComponent(path)}`;
  const answer = await caller({ method: 'HEAD', path: address }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status === 200) return readStat(answer);
  if (answer.status === 404) return { kind: 'absent' };
  // An answer to HEAD has no body to say why in.
  const again = await caller({ path: address }, signal);
  if (isUnreachable(again)) return again;
  if (again.status === 200) return { kind: 'there' };
  if (again.status === 404 || NAMES_NOTHING.test(parseMessage(again.body))) return { kind: 'absent' };
  return { kind: 'unknown', why: odd(again).why };
}

function readStat({ headers }: Answer): Stat {
  const header = headers[STAT_HEADER];
  const fields = fieldsOf(parseJson(Buffer.from(String(header ?? ''), 'base64').toString('utf8')));
  if (!fields) return unreachable('what answered is not a Docker Engine, or one that we do not understand');
  const target = fields['linkTarget'];
  return typeof target === 'string' && target !== '' ? { kind: 'link', target } : { kind: 'there' };
}
