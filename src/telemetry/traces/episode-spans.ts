/** An ended episode as a trace: one root span, and one child for each phase of it. */
import { type Attributes, ROOT_CONTEXT, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { EndedEpisode, Facts } from './episode.ts';

const ROOT = 'keepwell.restart';

export function traceEpisode(tracer: Tracer, ended: EndedEpisode): void {
  const { component, from, to, cause, phases, outcome, restarts, omitted, rule, decision } = ended;
  const name = { 'component.name': component };
  const root = tracer.startSpan(
    ROOT,
    {
      startTime: from,
      attributes: {
        ...name,
        'episode.cause': cause,
        'episode.outcome': outcome,
        'episode.restarts': restarts,
        'run.ids': runsOf(ended),
        ...(rule === null ? {} : { 'decision.rule': rule }),
        ...(decision === null ? {} : { 'decision.text': decision }),
        ...(omitted === 0 ? {} : { 'episode.omitted': omitted }),
      },
    },
    ROOT_CONTEXT,
  );
  const within = trace.setSpan(ROOT_CONTEXT, root);
  for (const { kind, from: startTime, to: end, facts, failure } of phases) {
    const attributes = { ...name, ...attributesOf(facts) };
    const span = tracer.startSpan(`${ROOT}.${kind}`, { startTime, attributes }, within);
    if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    span.end(end ?? to);
  }
  if (outcome === 'gave-up') root.setStatus({ code: SpanStatusCode.ERROR, message: decision ?? 'gave up' });
  root.end(to);
}

function runsOf({ phases }: EndedEpisode): string[] {
  const runs = phases.flatMap(({ facts }) => (typeof facts['run.id'] === 'string' ? [facts['run.id']] : []));
  return [...new Set(runs)];
}

const attributesOf = (facts: Facts): Attributes =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'object' ? [...value] : value]),
  );
