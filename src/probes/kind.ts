/** What a file in `kinds/` says about its kind of question, and what it has at hand to ask it. */

import type { z } from 'zod';
import type { CommandRunner } from '../base/command.ts';
import type { SpawnProblem } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Draft, Say } from '../config/draft.ts';
import type { ConfigOf, WrittenKind } from '../config/kind.ts';
import type { Path, TreeNode } from '../config/tree.ts';
import type { Ours } from '../config/words/argv.ts';
import type { ContainerEngine } from '../docker/ports.ts';
import type { Inquiry, Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import type { QuestionKind, QuestionOf } from '../supervision/rules/health/probe.ts';
import type { Surroundings } from '../supervision/spec.ts';
import type { Names } from './names/names.ts';

/** Where the commands of its exec probes run, unless they say otherwise. */
export interface ProbeHome extends Pick<Surroundings, 'cwd'> {
  /** An absolute path from one relative to the folder of the first file. */
  readonly absolute: (path: string) => string;
}

/** One of them, whichever. */
export type AnyProbeKind = ProbeKind<QuestionKind, z.ZodType>;

export interface ProbeKind<K extends QuestionKind, S extends z.ZodType> extends WrittenKind<S> {
  /** Words of others for it and for its keys, anywhere in a probe. */
  readonly words?: Readonly<Record<string, Ours>>;
  /** The same, only inside its own map. */
  readonly inside?: Readonly<Record<string, Ours>>;
  /** The whole question as others put it, by their word for it, as a value to paste. */
  readonly foreign?: Readonly<Record<string, Ours['put']>>;
  /** Says what could never be answered the way it is written. `written`: as it stands in the file, at `path`. */
  check?(config: Draft<ConfigOf<S>>, written: TreeNode | undefined, path: Path, say: Say): void;
  /** The question, complete. */
  resolve(config: ConfigOf<S>, home: ProbeHome): QuestionOf<K>;
  /** Opens it about one run. */
  open(question: QuestionOf<K>, about: About): Inquiry;
}

export interface About {
  readonly target: ProbeTarget;
  readonly onNews: () => void;
  readonly parts: ProberParts & { readonly names: Names };
}

export interface ProberParts {
  readonly logs: LogPart;
  readonly commands: CommandRunner;
  /** What a command sees. */
  environmentOf(spec: ProbeTarget['spec']): { readonly env: Readonly<Record<string, string>> } | SpawnProblem;
  /** Absent: none of those asked about is a container. */
  readonly inside?: InsideParts;
  /** Whether that process is there and no zombie. */
  isAlive(pid: number): boolean;
  /** How host names become addresses; as on this machine unless told. */
  readonly names?: Names;
}

/** Who reads the output of components. */
export interface LogPart {
  open(pattern: string, target: ProbeTarget, onNews: () => void): Inquiry;
  readonly watch: Prober['watch'];
}

/** Runs a command inside the container of a run. */
export interface InsideParts {
  readonly engine: Pick<ContainerEngine, 'exec'>;
  /** The id of the container of this run; null: none is known. */
  containerOf(run: RunId): string | null;
}
