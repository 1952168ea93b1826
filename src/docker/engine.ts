/** The Docker Engine over its socket. Paths carry no version: every Engine answers these, old and new alike. */
import type { Clock } from '../base/clock.ts';
import type { EngineClient } from './ports.ts';
import { archive } from './copy-archive.ts';
import { ANSWER_WITHIN_MS, createCaller, isUnreachable, odd } from './caller.ts';
import { create, kill, remove, removeStopped, restart, setRestartPolicy, start, stop, unpause } from './containers.ts';
import { type EngineEnv, type Places, USUAL_PLACES } from './endpoint.ts';
import { events } from './events.ts';
import { exec, execBytes } from './exec/exec.ts';
import { execState, launch } from './exec/launch.ts';
import { imageOf, pull } from './images.ts';
import { inspect } from './inspect.ts';
import { listContainers, listNetworks, names } from './list.ts';
import { logs } from './logs.ts';
import { look } from './inspection.ts';
import { createNetwork, removeNetwork } from './networks.ts';
import { stats } from './stats.ts';

export { MAX_ANSWER_BYTES } from './caller.ts';

export interface EngineOptions {
  readonly env: EngineEnv;
  readonly clock: Clock;
  readonly places?: Places;
  /** Null: whoever asks keeps the time. Default: 5 s for each answer. */
  readonly answerWithinMs?: number | null;
  /** Values that must not be in anything that is said of a container, beside those of its own variables. Default: none. */
  secrets?(): readonly string[];
}

export function createEngine(options: EngineOptions): EngineClient {
  const { env, clock, places = USUAL_PLACES, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const caller = createCaller({ env, clock, places, answerWithinMs });
  const secrets = () => options.secrets?.() ?? [];
  return {
    ping: async (signal) => {
      const answer = await caller({ path: '/_ping' }, signal);
      if (isUnreachable(answer)) return answer;
      return answer.status === 200 ? { kind: 'done' } : odd(answer);
    },
    inspect: (container, signal) => inspect(caller, container, signal, secrets()),
    names: (signal) => names(caller, signal),
    list: (labels, signal) => listContainers(caller, labels, signal),
    look: (id, path, signal) => look(caller, id, path, signal),
    exec: (id, command, signal) => exec({ caller, clock }, id, command, signal),
    execBytes: (id, command, maxBytes, signal) => execBytes({ caller, clock }, id, command, maxBytes, signal),
    launch: (id, command, asked, signal) => launch(caller, id, command, asked, signal),
    execState: (launched, signal) => execState(caller, launched, signal),
    create: (name, plan, signal) => create(caller, name, plan, signal),
    start: (id, signal) => start(caller, id, signal),
    stop: (id, graceMs, signal) => stop(caller, id, graceMs, signal),
    restart: (id, graceMs, signal) => restart(caller, id, graceMs, signal),
    kill: (id, unixSignal, signal) => kill(caller, id, unixSignal, signal),
    unpause: (id, signal) => unpause(caller, id, signal),
    remove: (id, signal) => remove(caller, id, signal),
    removeStopped: (id, signal) => removeStopped(caller, id, signal),
    setRestartPolicy: (id, policy, signal) => setRestartPolicy(caller, id, policy, signal),
    stats: (id, signal) => stats(caller, id, signal),
    events: (asked, signal) => events(caller, asked, signal),
    logs: (id, asked, signal) => logs({ caller, now: () => clock.wallNow() }, id, asked, signal),
    archive: (id, path, sink, signal) => archive(caller, id, path, sink, signal),
    imageOf: (image, signal) => imageOf(caller, image, signal),
    pull: (image, signal) => pull(caller, image, signal),
    createNetwork: (network, signal) => createNetwork(caller, network, signal),
    removeNetwork: (id, signal) => removeNetwork(caller, id, signal),
    networks: (labels, signal) => listNetworks(caller, labels, signal),
  };
}
