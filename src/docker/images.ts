/** Images: which one a name stands for, and fetching it. */

import { deed, faultOf } from './action.ts';
import { type Caller, isUnreachable, odd, unreachable } from './caller.ts';
import { fieldsOf, lines, parseJson, textOf } from './json.ts';
import type { Deed, EngineClient } from './ports.ts';

export async function imageOf(
  caller: Caller,
  image: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<EngineClient['imageOf']>>> {
  // The slashes of a name belong to the path.
  const path = image.split('/').map(encodeURIComponent).join('/');
  const answer = await caller({ path: `/images/${path}/json` }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status === 404) return { kind: 'missing' };
  const id = answer.status === 200 ? fieldsOf(parseJson(answer.body))?.['Id'] : undefined;
  return typeof id === 'string' ? { kind: 'found', id } : odd(answer);
}

/** The Engine tells in 200 that it has begun, and in the last of many lines whether it has managed. */
export async function pull(caller: Caller, image: string, signal: AbortSignal): Promise<Deed> {
  let failure = '';
  let last: unknown = null;
  const told = lines((line) => {
    last = parseJson(line);
    failure ||= textOf(fieldsOf(last)?.['error']);
  });
  const path = `/images/create?fromImage=${encodeURIComponent(withTag(image))}`;
  const answer = await caller({ method: 'POST', path, onPiece: told.push }, signal);
  if (isUnreachable(answer)) return answer;
  told.end();
  if (failure !== '') return faultOf(failure, false);
  if (answer.status === 404) return { kind: 'refused', why: faultText(answer.body, image) };
  if (answer.status === 200 && fieldsOf(last) === null)
    return unreachable(`the Docker Engine did not say what came of fetching ${image}`);
  return deed(answer, { of: image });
}

const faultText = (body: string, image: string): string =>
  textOf(fieldsOf(parseJson(body))?.['message']) || `there is no image ${image}`;

/** Without a tag, all tags would be fetched. */
function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? image : `${image}:latest`;
}
