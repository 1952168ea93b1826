/** Checks, complete: every default filled in, every path absolute, every command an argv. */

import { z } from 'zod';
import { CHECK_KINDS } from '../checks/kinds.ts';
import type { CheckQuestion, CheckSpec } from '../checks/spec.ts';
import type { ProbeHome } from '../probes/kind.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { keysOf, schemasOf } from './kind.ts';
import { exactlyOne, nameKey, optional, positiveDuration, text } from './leaves.ts';
import { QUESTIONS_OF_CHECKS, type QuestionConfig, questionSpec } from './probes.ts';

const DEFAULT = DEFAULTS.check;

export function checkSpec(name: string, config: CheckConfig, home: ProbeHome): CheckSpec {
  return {
    name,
    needs: config.needs ?? [],
    question: question(config, home),
    hint: config.hint ?? null,
    timeoutMs: config.timeout ?? DEFAULT.timeoutMs,
  };
}

function question(config: CheckConfig, home: ProbeHome): CheckQuestion {
  const own = keysOf(CHECK_KINDS).find((kind) => config[kind] !== undefined);
  if (own) return CHECK_KINDS[own].resolve(config[own] as never, home);
  const { all_of } = config;
  const asked = all_of
    ? { kind: 'all_of' as const, all: all_of.map((item) => questionSpec(item as QuestionConfig, home)) }
    : questionSpec(config as QuestionConfig, home);
  return { kind: 'probe', question: asked };
}

// Checks as a schema: what each kind asks, what it needs, and how often they run by themselves.

const item = exactlyOne(z.strictObject(QUESTIONS_OF_CHECKS), keysOf(QUESTIONS_OF_CHECKS)).meta({
  id: 'check-question',
  kind: 'questions',
});

/** Their keys are described with the probes, and not again. */
function sameAsOfProbes<Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields): Fields {
  const described = Object.entries(fields).map(([key, field]) => {
    const same = { ...field.meta(), sameKeysAs: `components.NAME.readiness.${key}` };
    return [key, field.meta(same)] as const;
  });
  return Object.fromEntries(described) as unknown as Fields;
}

const QUESTIONS = {
  ...schemasOf(CHECK_KINDS),
  ...sameAsOfProbes(QUESTIONS_OF_CHECKS),
  all_of: optional(z.array(item).meta({ minItems: 1 }), {
    description: 'Several questions, all of which must pass. Each is a map with one question of a probe.',
    defaultNote: 'none',
    example: [{ tcp: 7233 }, { http: { port: 8080 } }],
  }),
};

const checkSchema = exactlyOne(
  z.strictObject({
    ...QUESTIONS,
    needs: optional(z.array(nameKey), {
      description: 'Checks that must be ok first; otherwise this one is skipped.',
      defaultsTo: [],
      example: ['sandbox'],
    }),
    hint: optional(text, {
      description: 'What to do when it fails; part of the message.',
      defaultNote: 'none',
      example: 'run ./scripts/sandbox-init.sh',
    }),
    timeout: optional(positiveDuration, {
      description: 'No answer within this time is a failure.',
      defaultsTo: durationText(DEFAULT.timeoutMs),
      example: '10s',
    }),
  }),
  keysOf(QUESTIONS),
).meta({ id: 'check', kind: 'checks' });

export const checksSchema = z.record(nameKey, checkSchema).meta({ minProperties: 1 });

export const healthSchema = z.strictObject({
  every: optional(positiveDuration, {
    description: 'The daemon runs all checks this often, keeps their results and reports each change.',
    defaultNote: 'only when asked',
    example: '1m',
  }),
});

export type CheckConfig = z.output<typeof checkSchema>;
