/** What a file in `kinds/` says about its kind of check, and what it has at hand to ask it. */

import type { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Stalls } from '../base/stall-watch.ts';
import type { Draft, Say } from '../config/draft.ts';
import type { ConfigOf, WrittenKind } from '../config/kind.ts';
import type { Path, TreeNode } from '../config/tree.ts';
import type { ContainerEngine } from '../docker/ports.ts';
import type { ProbeHome } from '../probes/kind.ts';
import type { Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import type { ComponentView } from '../supervision/rules/views.ts';
import type { CheckObserver } from './observer.ts';
import type { Judgement } from './rules/results.ts';
import type { CheckQuestion } from './spec.ts';

/** Those that only checks can ask: the questions of probes are not among them. */
export type OwnCheck = Exclude<CheckQuestion['kind'], 'probe'>;
export type CheckOf<K extends OwnCheck> = Extract<CheckQuestion, { readonly kind: K }>;

/** One of them, whichever. */
export type AnyCheckKind = CheckKind<OwnCheck, z.ZodType>;

export interface CheckKind<K extends OwnCheck, S extends z.ZodType> extends WrittenKind<S> {
  /** Words of others for it, each with the value to paste for what was written. */
  readonly words: Readonly<Record<string, (written: TreeNode) => string>>;
  /** Says what could never be asked the way it is written at `path`. `components`: those in the file. */
  check?(config: Draft<ConfigOf<S>>, path: Path, say: Say, components: readonly string[]): void;
  /** The question, complete. */
  resolve(config: ConfigOf<S>, home: ProbeHome): CheckOf<K>;
  /** Whether the Engine is asked. Such a question is called off with the reason, and then answers as well: it knows who was slow, and clears away. */
  isPutToTheEngine(question: CheckOf<K>): boolean;
  /** Whoever is asked lets go of everything when `signal` aborts; how it ends then does not matter. */
  ask(question: CheckOf<K>, parts: CheckParts, signal: AbortSignal): Promise<Judgement>;
}

/** What asking checks needs from the outside. */
export interface CheckParts {
  readonly clock: Clock;
  readonly stalls: Stalls;
  /** Whose environment `env` is, for people: "the daemon". */
  readonly whose: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened when the first check wants it: most reports need neither. */
  prober(): Promise<Pick<Prober, 'open'>>;
  engine(): Promise<ContainerEngine>;
  /** Stands in for the run that a probe is about: a check is about none. */
  readonly target: ProbeTarget;
  /** How the components are right now. */
  components(): Promise<readonly ComponentView[]>;
  readonly observer: CheckObserver;
}
