/** What a file in `kinds/` says about its kind of check. */

import type { z } from 'zod';
import type { Draft, Say } from '../config/draft.ts';
import type { ConfigOf, WrittenKind } from '../config/kind.ts';
import type { Path, TreeNode } from '../config/tree.ts';
import type { ProbeHome } from '../probes/kind.ts';
import type { CheckParts } from './parts.ts';
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
