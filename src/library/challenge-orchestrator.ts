/** Gives each user a container of their own, looks after it until its lease is over, and clears it away. */
import { createHash, randomBytes } from 'node:crypto';
import { noFailpoints } from '../base/failpoints.ts';
import { silentLog } from '../base/log.ts';
import { AppError, type ErrorCode } from '../base/pure/errors.ts';
import { readEnvFiles } from '../config/load.ts';
import type { ContainerCare } from '../docker/healing/healer.ts';
import type { SessionBook, Sessions } from '../sessions/ports.ts';
import type { SessionsSpec } from '../sessions/rules/template.ts';
import type { SessionRecord } from '../sessions/spec.ts';
import type { SessionTemplateConfig } from './config-features.ts';
import { type ContainerHealthStatus, careOptions, type DockerOptions, healthStatus } from './container-options.ts';
import { type ConfigInput, readConfigInput } from './read-config.ts';
import {
  infoOf,
  openBook,
  openLeaseFile,
  type SessionInfo,
  type SessionListeners,
  SessionManager,
} from './session-manager.ts';

export interface ChallengeOrchestratorOptions extends DockerOptions, SessionListeners {
  /** The challenges by name, with the keys of `sessions.templates` in `keepwell.yaml`. */
  readonly templates?: Readonly<Record<string, SessionTemplateConfig>>;
  /** Instead of `templates`: a configuration with a section `sessions`, as a file or an object. */
  readonly config?: ConfigInput;
  /** How many sessions there may be at once, all users together. Default: 100, or as the configuration says. */
  readonly maxSessions?: number;
  /** Who keeps the sessions. Default: an object in memory, `orchestrator.sessions`. */
  readonly sessions?: SessionManager;
  /**
   * A stable id: containers that carry it belong to this orchestrator and to the next one with the same id, and to no other; there must
   * never be two at once. Default: made from the working directory.
   */
  readonly owner?: string;
  /** A JSON file that remembers leases that were extended. Without it, a new process knows only how they were first given. */
  readonly leases?: string;
}

export interface SpawnOptions {
  /** Default: the `ttl` of the template. */
  readonly ttlMs?: number;
  /** started (the default): it runs, and its port is known. healthy: its health check passes, too. */
  readonly wait?: 'started' | 'healthy';
}

interface Opened {
  readonly care: ContainerCare;
  readonly sessions: Sessions;
}

/** Owners that have an orchestrator in this process now. */
const owners = new Set<string>();

/**
 * Containers for the users of a challenge platform. Everything may be called at any time and side by side.
 *
 * @example
 * const challenges = new ChallengeOrchestrator({ templates: { web: { image: 'ctf/web', port: 8080, ttl: '30m' } } });
 * const { host, port, sessionId } = await challenges.spawnChallenge('alice', 'web');
 * await challenges.stopChallenge(sessionId);
 */
export class ChallengeOrchestrator implements AsyncDisposable {
  /** The sessions that live. */
  readonly sessions: SessionManager;
  readonly owner: string;
  readonly #book: SessionBook;
  readonly #opened: Promise<Opened>;
  #over: Promise<void> | null = null;

  /** Throws when the templates cannot be used. Sessions that an earlier process left are taken over in the background. */
  constructor(options: ChallengeOrchestratorOptions) {
    const spec = specOf(options);
    const care = careOptions(options);
    const { log = silentLog, leases } = options;
    this.owner = checkedOwner(options.owner ?? ownerOf(process.cwd()));
    this.sessions = options.sessions ?? new SessionManager();
    if (owners.has(this.owner))
      throw new Error(`an orchestrator with the owner "${this.owner}" is open in this process: shut it down first`);
    owners.add(this.owner);
    this.#book = openBook({
      manager: this.sessions,
      listeners: options,
      leases: leases === undefined ? null : openLeaseFile(leases, log),
      log,
    });
    this.#opened = this.#open(care, spec);
    this.#opened.catch(() => {}); // told to whoever calls a method
  }

  /**
   * Resolves once its port is known. Rejects with SESSION_QUOTA when the user has as many as the template allows, with NO_SUCH_TEMPLATE,
   * and with ENGINE_UNREACHABLE when there is no Docker Engine to ask; nothing is left behind then.
   */
  async spawnChallenge(userId: string, challengeId: string, options: SpawnOptions = {}): Promise<SessionInfo> {
    const { ttlMs, wait } = options;
    return await withEmbeddedHints(async () => {
      const { sessions } = await this.#settled();
      return infoOf(await sessions.spawn({ user: userId, template: challengeId, ttlMs, wait }));
    });
  }

  /** From any state, any number of times: also one that has ended, or that nobody knows. Resolves when its container is gone. */
  async stopChallenge(sessionId: string): Promise<void> {
    await withEmbeddedHints(async () => {
      const { sessions } = await this.#settled();
      if (this.#book.find(sessionId) !== null) await sessions.stop(sessionId);
    });
  }

  /** Lengthens the lease, as far as `max_ttl` of the template allows. Rejects with NO_SUCH_SESSION and SESSION_LEASE_FULL. */
  async extend(sessionId: string, byMs: number): Promise<SessionInfo> {
    return await withEmbeddedHints(async () => {
      const { sessions } = await this.#settled();
      if (this.#book.find(sessionId) === null) throw new AppError('NO_SUCH_SESSION', { id: sessionId });
      return infoOf(sessions.extend(sessionId, byMs));
    });
  }

  /** Of a session, by its id or its container's full id. As it is known now, without asking anybody. */
  getContainerHealth(id: string): ContainerHealthStatus {
    const record = this.#find(id);
    if (record === null) return healthStatus({ status: 'unknown', reason: 'there is no such session' }, null);
    if (record.end) return healthStatus({ status: 'unknown', reason: `the session is over: ${record.end.why}` }, null);
    return healthStatus(record.health, record.containerId);
  }

  /**
   * Leaves no timer and no connection. Containers live to their lease, and the next orchestrator with this owner takes them over.
   * With `stopContainers`, resolves when all of them are gone, and rejects with SESSIONS_STILL_ENDING when some could not be removed.
   */
  shutdown({ stopContainers = false }: { readonly stopContainers?: boolean } = {}): Promise<void> {
    this.#over ??= this.#end(stopContainers).finally(() => owners.delete(this.owner));
    return this.#over;
  }

  /** As `shutdown()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  async #open(options: ReturnType<typeof careOptions>, spec: SessionsSpec): Promise<Opened> {
    const [{ openContainerCare }, { createSessions }] = await Promise.all([
      import('../docker/healing/healer.ts'),
      import('../sessions/service.ts'),
    ]);
    const care = openContainerCare(options);
    const sessions = createSessions({
      ...care,
      book: this.#book,
      owner: this.owner,
      log: options.log,
      failpoints: noFailpoints,
      spec,
      newId: () => randomBytes(16).toString('hex'),
      environmentOf: ({ env, envFiles }) => ({ ...readEnvFiles(envFiles), ...env }),
    });
    return { care, sessions };
  }

  /** What an earlier process left counts in the quota, and can be stopped: it must be known first. */
  async #settled(): Promise<Opened> {
    if (this.#over !== null) throw new AppError('SESSIONS_CLOSED');
    const opened = await this.#opened;
    await opened.sessions.settled;
    return opened;
  }

  async #end(stopAll: boolean): Promise<void> {
    const opened = await this.#opened.catch(() => null);
    const left = (await opened?.sessions.close({ stopAll })) ?? [];
    await opened?.care.close();
    if (left.length > 0)
      throw withEmbeddedHint(new AppError('SESSIONS_STILL_ENDING', { sessions: left.map(({ id }) => id).join(', ') }));
  }

  #find(id: string): SessionRecord | null {
    return this.#book.find(id) ?? this.#book.open().find(({ containerId }) => containerId === id) ?? null;
  }
}

function specOf({ templates, config, maxSessions }: ChallengeOrchestratorOptions): SessionsSpec {
  if ((templates === undefined) === (config === undefined))
    throw new TypeError('ChallengeOrchestrator wants either `templates` or `config`');
  if (maxSessions !== undefined && !(Number.isInteger(maxSessions) && maxSessions > 0))
    throw new RangeError(`maxSessions must be a whole number above 0, not ${maxSessions}`);
  const { sessions } = readConfigInput(config ?? { sessions: { templates: templates ?? {} } }, {}).config;
  return maxSessions === undefined ? sessions : { ...sessions, max: maxSessions };
}

/** It becomes a label and part of a filter. */
const OWNER_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

function checkedOwner(owner: string): string {
  if (!OWNER_PATTERN.test(owner))
    throw new TypeError(
      `the owner ${JSON.stringify(owner)} may consist of letters, digits, ".", "_" and "-" only, 63 at most`,
    );
  return owner;
}

const OWNER_LENGTH = 16;

const ownerOf = (directory: string): string =>
  `embedded-${createHash('sha256').update(directory).digest('hex').slice(0, OWNER_LENGTH)}`;

// Hints of errors about sessions for programs that keep them by themselves: there is no command to be typed.

const HINTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  NO_SUCH_SESSION: 'sessions.listSessions() lists them.',
  NO_SUCH_TEMPLATE: 'Give it in "templates" when the ChallengeOrchestrator is made.',
  SESSION_QUOTA: 'Use the existing one, or end it first with stopChallenge(sessionId).',
  SESSIONS_FULL: 'Wait until one ends, or give a larger "maxSessions" when the ChallengeOrchestrator is made.',
  SESSION_ENDED: 'Spawn a new one with spawnChallenge().',
  SESSIONS_STILL_ENDING:
    'A new ChallengeOrchestrator with the same owner removes them when the Docker Engine answers again.',
  SESSIONS_CLOSED: 'It was shut down: make a new ChallengeOrchestrator.',
};

/** What `ask` rejects with says what to do in the words of the library. */
export async function withEmbeddedHints<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof AppError ? withEmbeddedHint(error) : error;
  }
}

function withEmbeddedHint(error: AppError): AppError {
  const hint = HINTS[error.code];
  return hint === undefined ? error : new AppError(error.code, error.details, { cause: error.cause, hint });
}
