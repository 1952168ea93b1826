/** Puts each kind of question to whom it belongs. */

import type { Inquiry, Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import { describeQuestion, type ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { pass } from './answers.ts';
import { type ExecParts, execInquiry } from './exec.ts';
import { grpcInquiry } from './grpc.ts';
import { httpInquiry } from './http.ts';
import { inquiry } from './inquiry.ts';
import { createNames, type Names } from './names/names.ts';
import { pidInquiry } from './pid.ts';
import { tcpInquiry } from './tcp.ts';
import { temporalInquiry } from './temporal.ts';

/** Who reads the output of components. */
export interface LogPart {
  open(pattern: string, target: ProbeTarget, onNews: () => void): Inquiry;
  readonly watch: Prober['watch'];
}

export interface ProberParts extends ExecParts {
  readonly logs: LogPart;
  /** Whether that process is there and no zombie. */
  isAlive(pid: number): boolean;
  /** How host names become addresses; as on this machine unless told. */
  readonly names?: Names;
}

export function createProber(parts: ProberParts): Prober {
  const { logs, names = createNames() } = parts;
  const open = (question: ProbeQuestion, target: ProbeTarget, onNews: () => void): Inquiry => {
    switch (question.kind) {
      case 'exec':
        return execInquiry(question, target, parts);
      case 'http':
        return httpInquiry(question, names);
      case 'tcp':
        return tcpInquiry(question, names);
      case 'grpc':
        return grpcInquiry(question, names);
      case 'temporal':
        return temporalInquiry(question, names);
      case 'pid':
        return pidInquiry(target, parts.isAlive);
      case 'log':
        return logs.open(question.pattern, target, onNews);
      case 'all_of':
        return allOfInquiry(question.all, (part) => open(part, target, onNews));
      default:
        throw new Error(`no such question: ${JSON.stringify(question satisfies never)}`);
    }
  };
  return { describe: describeQuestion, open, watch: (...asked) => logs.watch(...asked) };
}

// Several questions asked side by side: all must pass.

export function allOfInquiry(questions: readonly ProbeQuestion[], open: (question: ProbeQuestion) => Inquiry): Inquiry {
  const parts = questions.map((question) => ({ question, inquiry: open(question) }));
  const whole = inquiry(async (timeoutMs, signal) => {
    const answers = await Promise.all(
      parts.map(async ({ question, inquiry: part }) => {
        const { outcome, message } = await part.ask(timeoutMs, signal);
        return { outcome, message: `${describeQuestion(question)}: ${message}` };
      }),
    );
    const worst = (['fail', 'inconclusive'] as const).map((kind) => answers.find(({ outcome }) => outcome === kind));
    return worst.find((answer) => answer !== undefined) ?? pass(`all ${answers.length} passed`);
  });
  return {
    ask: whole.ask,
    [Symbol.dispose]() {
      whole[Symbol.dispose]();
      for (const part of parts) part.inquiry[Symbol.dispose]();
    },
  };
}
