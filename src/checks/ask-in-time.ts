/** One check, asked within its time: what is over is called off, and what was answered while we were not awake is asked again. */
import type { CheckQuestion, CheckResult, CheckSpec } from './spec.ts';
import { failed, hinted, type Judgement } from './rules/results.ts';
import { formatDuration } from '../base/pure/format.ts';
import { after } from '../base/pure/ids.ts';
import { ask } from './ask.ts';
import type { CheckParts } from './parts.ts';

/** We were away for this part of the time an answer may take: then it is not what was asked that was slow. */
const VOID_RATIO = 0.25;

/** Rejects only when `signal` aborts. */
export async function askInTime(spec: CheckSpec, parts: CheckParts, signal: AbortSignal): Promise<CheckResult> {
  const { clock, stalls } = parts;
  const askedAt = clock.now();
  const first = await askOnce(spec, parts, signal);
  const isVoid = first.status === 'failed' && stalls.longestSince(askedAt) > spec.timeoutMs * VOID_RATIO;
  return hinted(isVoid ? await askOnce(spec, parts, signal) : first, spec);
}

async function askOnce(spec: CheckSpec, parts: CheckParts, signal: AbortSignal): Promise<Judgement> {
  const { timeoutMs, question } = spec;
  const over = new AbortController();
  const callOff = () => over.abort();
  signal.addEventListener('abort', callOff, { once: true });
  if (signal.aborted) callOff();
  const answer = ask(spec, parts, over.signal).catch((error: unknown) =>
    failed(`it could not be asked: ${words(error)}`),
  );
  try {
    // Questions of probes keep their time themselves: they answer when what they started has been cleared away.
    const late = question.kind === 'probe' ? answer : tooLate(timeoutMs, parts, over);
    const result = await Promise.race([answer, isPutToTheEngine(question) ? late.then(calledOff(answer, over)) : late]);
    signal.throwIfAborted();
    return result;
  } finally {
    signal.removeEventListener('abort', callOff);
    over.abort();
  }
}

async function tooLate(timeoutMs: number, { clock }: CheckParts, over: AbortController): Promise<Judgement> {
  await clock.sleepUntil(after(clock.now(), timeoutMs), over.signal).catch(() => {}); // called off: nobody listens then
  // What waits to be read comes first: after a stall of our own, timers run before anything else.
  await new Promise((resolve) => setImmediate(resolve));
  return failed(`no answer within ${formatDuration(timeoutMs)}`);
}

/** Questions about containers are called off with the reason, and then answer as well: they know who was slow, and clear away. */
const isPutToTheEngine = (question: CheckQuestion): boolean =>
  question.kind === 'container_running' || ('in' in question && question.in !== null);

const calledOff = (answer: Promise<Judgement>, over: AbortController) => (late: Judgement) => {
  over.abort(new DOMException(late.message, 'TimeoutError'));
  return answer;
};

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
