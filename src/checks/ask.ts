/** Puts each kind of check to whom it belongs. */

import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { formatDuration } from '../base/pure/format.ts';
import { after, type ComponentName, type RunId } from '../base/pure/ids.ts';
import { secretsOf } from '../crashes/evidence.ts';
import { environmentOf } from '../drivers/launch-run.ts';
import { createCommandRunner } from '../drivers/process/command-runner.ts';
import { isThere } from '../drivers/process/is-there.ts';
import { straySpec } from '../drivers/stray-spec.ts';
import type { LogPart } from '../probes/kind.ts';
import { createProber, redactingProber } from '../probes/prober.ts';
import type { Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import type { ProbeQuestion } from '../supervision/rules/health/probe.ts';
import type { CheckParts } from './kind.ts';
import { CHECK_KINDS } from './kinds.ts';
import { failed, hinted, type Judgement, ok } from './rules/results.ts';
import type { CheckQuestion, CheckResult, CheckSpec } from './spec.ts';

const ask = (
  { question, timeoutMs }: Pick<CheckSpec, 'question' | 'timeoutMs'>,
  parts: CheckParts,
  signal: AbortSignal,
): Promise<Judgement> =>
  question.kind === 'probe'
    ? probeQuestion(question.question, parts, timeoutMs, signal)
    : CHECK_KINDS[question.kind].ask(question as never, parts, signal);

// One check, asked within its time: what is over is called off, and what was answered while we were not awake is asked again.

/** We were away for this part of the time an answer may take: then it is not what was asked that was slow. */
const VOID_RATIO = 0.25;

/** Rejects only when `signal` aborts. */
export async function askInTime(spec: CheckSpec, parts: CheckParts, signal: AbortSignal): Promise<CheckResult> {
  const { clock, stalls } = parts;
  const askedAt = clock.now();
  using _attention = stalls.attend();
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

const isPutToTheEngine = (question: CheckQuestion): boolean =>
  question.kind !== 'probe' && CHECK_KINDS[question.kind].isPutToTheEngine(question as never);

const calledOff = (answer: Promise<Judgement>, over: AbortController) => (late: Judgement) => {
  over.abort(new DOMException(late.message, 'TimeoutError'));
  return answer;
};

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// Asks once what probes ask again and again.

async function probeQuestion(
  question: ProbeQuestion,
  { prober, target }: Pick<CheckParts, 'prober' | 'target'>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { open } = await prober();
  const inquiry = open(question, target, () => {});
  try {
    const { outcome, message } = await inquiry.ask(timeoutMs, signal);
    // Inconclusive as well: a script that asks "is it healthy?" must not hear yes.
    return outcome === 'pass' ? ok(message) : failed(message);
  } finally {
    inquiry[Symbol.dispose]();
  }
}

// A prober for questions that are asked once: nothing of it watches logs or processes.

export interface AskingOptions {
  /** A directory for pipes. */
  readonly home: string;
  /** What commands see. */
  readonly base: Readonly<Record<string, string>>;
  /** Values of the configuration that must never be shown. */
  readonly secrets: readonly string[];
  readonly log: Log;
}

/** The configuration refuses a check that would ask for a line of a log. */
const noLogs = (): never => {
  throw new Error('a check cannot ask about a log');
};
const NO_LOGS: LogPart = { open: noLogs, watch: noLogs };

export function openAskingProber(options: AskingOptions): { prober: Prober; close(): Promise<void> } {
  const { home, base, secrets, log } = options;
  // Without cgroups: a command that is called by hand makes none in the cgroup of its caller.
  const commands = createCommandRunner({ home, cgroup: 'off', clock: systemClock, log, softNofile: null });
  const prober = createProber({
    commands,
    logs: NO_LOGS,
    environmentOf: (spec) => environmentOf(spec, base),
    isAlive: isThere,
  });
  return { prober: redactingProber(prober, (spec) => secretsOf(spec, base, secrets)), close: () => commands.close() };
}

// What stands where a probe expects a run: a check is about none, so its commands see what the one who asks sees.

export const NO_RUN: ProbeTarget = {
  spec: straySpec('check' as ComponentName),
  run: '' as RunId,
  pid: null,
  logFrom: 0,
};
