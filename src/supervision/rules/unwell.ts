/** What is wrong with a component without a crash: it is not ready, waits, is frozen, or cannot be reached. Pure. */
import { shortHash } from '../../base/pure/hash.ts';
import type { ComponentView } from './views.ts';
import { type WellbeingView as SeenWell, wellbeing } from './wellbeing.ts';

/** It becomes an incident when it lasts longer than this: most starts are over by then. */
export const UNWELL_AFTER_MS = 60_000;

export interface Unwell {
  readonly name: string;
  /** unreachable: nobody can say how it is, because the Docker Engine does not answer. */
  readonly kind: 'down' | 'frozen' | 'not-ready' | 'unreachable' | 'waiting';
  /** "api is not ready: readiness http :8080/healthz: HTTP 503" */
  readonly title: string;
  /** Why; null: nothing more is known. */
  readonly why: string | null;
}

type Seen = SeenWell & Pick<ComponentView, 'removed' | 'waiting_for'>;

/** By the same rule as "keepwell status --exit-code". Null: it is well, has completed, or nobody wants it to run. */
export function unwellOf(view: Seen): Unwell | null {
  const kind = kindOf(view);
  if (kind === null) return null;
  const { name, note } = view;
  return { name, kind, title: `${name} ${WORDS[kind](view)}`, why: note };
}

function kindOf(view: Seen): Unwell['kind'] | null {
  const { kind } = wellbeing(view);
  if (kind === 'well' || kind === 'unwanted' || view.removed) return null;
  const { state, condition } = view;
  if (condition === 'engine-unreachable') return 'unreachable';
  if (condition === 'frozen') return 'frozen';
  if (state === 'waiting') return 'waiting';
  return state === 'running' || state === 'starting' ? 'not-ready' : 'down';
}

const because = ({ note }: Seen): string => (note === null ? '' : `: ${note}`);

const WORDS: Readonly<Record<Unwell['kind'], (view: Seen) => string>> = {
  down: (view) => `${view.condition === 'unkillable' ? 'cannot be ended' : 'does not run'}${because(view)}`,
  frozen: (view) => `is frozen${because(view)}`,
  'not-ready': (view) => `is not ready${because(view)}`,
  unreachable: () => 'cannot be reached: the Docker Engine does not answer',
  waiting: ({ waiting_for: names }) => `waits for ${names.length === 0 ? 'what it depends on' : names.join(', ')}`,
};

/** An Engine that is away is one cause for all its containers; everything else is of one component. */
export function unwellFingerprint({ name, kind }: Unwell): string {
  if (kind === 'frozen') return freezeFingerprint(name);
  return `v1:${shortHash(kind === 'unreachable' ? 'unwell\nengine' : `unwell\n${name}`)}`;
}

/** The freeze of a loop is one problem, whichever run it is in. */
export const freezeFingerprint = (loop: string): string => `v1:${shortHash(`frozen\n${loop}`)}`;
