/** What an answer to "do this" means, and whose fault it is when it was not done. */

import { type Answer, isUnreachable, unreachable } from './caller.ts';
import { fieldsOf, listOf, parseJson, parseMessage, textOf } from './json.ts';
import type { ActionResult, Creation, Unreachable } from './ports.ts';
import { blame } from './rules/exit.ts';

type Fault = Extract<ActionResult, { kind: 'refused' | 'engine-fault' }>;

export function fault({ status, body }: Pick<Answer, 'status' | 'body'>): Fault {
  const why = parseMessage(body) || `the Docker Engine answered with status ${status} and no reason`;
  return faultOf(why, status < 500);
}

/** `isRefusal`: what to think when the words do not tell. */
export function faultOf(why: string, isRefusal: boolean): Fault {
  const whose = blame(why);
  return { kind: whose === 'container' || (whose === 'untold' && isRefusal) ? 'refused' : 'engine-fault', why };
}

export interface ExpectedAnswer {
  /** Of what it was asked, by id or name: an Engine may as well miss another one, whose network this one shares. */
  readonly of: string;
  /** Answers that mean "it is so already", by their message. */
  readonly done?: RegExp;
}

export function actionResult(answer: Answer | Unreachable, { of, done }: ExpectedAnswer): ActionResult {
  if (isUnreachable(answer)) return answer;
  if ((answer.status >= 200 && answer.status < 300) || answer.status === 304) return { kind: 'done' };
  const message = parseMessage(answer.body);
  if (done?.test(message)) return { kind: 'done' };
  if (answer.status === 404 && GONE.test(message) && message.includes(of)) return { kind: 'missing' };
  if (answer.status === 409 && GOING.test(message)) return { kind: 'missing' };
  return fault(answer);
}

/** Not "no such image", not "network … not found" of a container that is to be started in it, not "page not found". */
const GONE = /no such container|no container with name or id/i;
/** Somebody is removing it right now. */
const GOING = /marked for removal|removal of container .* is already in progress/i;
/** Docker and Podman, containers and networks. */
const NAME_TAKEN = /name .*already (in use|exists|used)/i;
const NO_IMAGE = /no such image|image not known/i;

export function creation(answer: Answer | Unreachable): Creation {
  if (isUnreachable(answer)) return answer;
  const why = parseMessage(answer.body);
  if (answer.status === 404 && NO_IMAGE.test(why)) return { kind: 'no-image', why };
  if ((answer.status === 409 || answer.status >= 500) && NAME_TAKEN.test(why)) return { kind: 'name-taken', why };
  if (answer.status !== 201) return fault(answer);
  const { Id, Warnings, Warning } = fieldsOf(parseJson(answer.body)) ?? {};
  if (typeof Id !== 'string') return unreachable(NOT_AN_ENGINE);
  return {
    kind: 'created',
    id: Id,
    warnings: [...listOf(Warnings), Warning].map(textOf).filter((text) => text !== ''),
  };
}

export const NOT_AN_ENGINE = 'what answered is not a Docker Engine, or one that we do not understand';
