/** Sessions in the daemon: their book is the history, and what is told about them goes where all events go. */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../base/clock.ts';
import { secretValues } from '../base/pure/redact.ts';
import type { Runtime } from '../base/runtime.ts';
import { type ResolvedConfig, readEnvFiles } from '../config/load.ts';
import type { ContainerWatch } from '../docker/container-watch.ts';
import { createHealer } from '../docker/healing/healer.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { Recorder, Store } from '../history/ports.ts';
import type { SessionsSummary } from '../supervision/rules/views.ts';
import { type SessionCases, type SessionCrashParts, sessionCases } from './crashes.ts';
import type { SessionBook, Sessions } from './ports.ts';
import type { SessionsSpec, SessionTemplate } from './rules/template.ts';
import { sessionsSummary } from './rules/view.ts';
import { createSessions } from './service.ts';

export interface SessionsParts extends Pick<Runtime, 'log' | 'failpoints'> {
  readonly containers: { readonly engine: EngineClient; readonly watch: ContainerWatch; readonly owner: string };
  readonly store: Store;
  config(): Pick<ResolvedConfig, 'sessions' | 'secrets'>;
  onConfig(listener: (config: ResolvedConfig) => void): void;
  readonly record: Recorder;
  readonly incidentService: SessionCrashParts['incidentService'];
}

export interface DaemonSessions extends Omit<Sessions, 'use'> {
  /** Null: there are none, and no template for any. */
  summary(): SessionsSummary | null;
}

const ID_BYTES = 16;

export function openSessions(parts: SessionsParts): DaemonSessions {
  const { containers, store, log, failpoints, incidentService, record, config } = parts;
  const clock = systemClock;
  const cases = sessionCases({
    ...{ engine: containers.engine, clock, log, incidentService, record },
    secrets: (name) => [...templateSecrets(config().sessions, name), ...config().secrets],
  });
  const healer = createHealer({ ...containers, clock, random: Math.random, log });
  const sessions = createSessions({
    ...containers,
    healer,
    clock,
    log,
    failpoints,
    spec: config().sessions,
    book: bookOf(store, cases, record),
    failed: (session, failure) => cases.failed(session, failure),
    newId: () => randomBytes(ID_BYTES).toString('hex'),
    environmentOf: sessionEnvironment,
  });
  parts.onConfig((fresh) => sessions.use(fresh.sessions));
  return {
    spawn: (request) => sessions.spawn(request),
    stop: (id) => sessions.stop(id),
    extend: (id, byMs) => sessions.extend(id, byMs),
    get: (id) => sessions.get(id),
    list: (query) => sessions.list(query),
    settled: sessions.settled,
    summary: () => {
      const summary = sessionsSummary(sessions.list());
      return config().sessions.templates.length > 0 || summary.total > 0 ? summary : null;
    },
    close: async (options) => {
      const left = await sessions.close(options);
      await healer.close();
      return left;
    },
  };
}

/** Values that containers of this template are given and nobody should see. */
export function templateSecrets({ templates }: SessionsSpec, name: string): readonly string[] {
  const template = templates.find((each) => each.name === name);
  if (!template) return [];
  try {
    return secretValues(sessionEnvironment(template));
  } catch {
    return secretValues(template.env);
  }
}

/** May throw: a file that is not there. */
const sessionEnvironment = ({ env, envFiles }: SessionTemplate): Readonly<Record<string, string>> => ({
  ...readEnvFiles(envFiles),
  ...env,
});

const bookOf = (store: Store, cases: SessionCases, record: Recorder): SessionBook => ({
  open: () => store.sessions({ which: 'open', limit: 0 }),
  find: (id) => store.session(id),
  ended: ({ user, limit }) => store.sessions({ which: 'ended', limit, ...(user === undefined ? {} : { user }) }),
  save: (session, told) => {
    const at = systemClock.wallNow();
    const subject = { kind: 'session', name: session.id } as const;
    const events = told.map(({ type, data }) => ({ at, subject, type, run: null, data }));
    record({ session, events });
    cases.told(session, told);
  },
});
