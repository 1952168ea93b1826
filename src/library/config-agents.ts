/** The keys of `agents` in a configuration object. */
import type { SurroundingsConfig } from './config-surroundings.ts';
import type { Duration, Size } from './config-units.ts';

export interface AgentsConfig {
  readonly every?: Duration;
  readonly max_respawns?: number;
  /** The component that spawns them. */
  readonly loop?: string;
  readonly types?: Readonly<Record<string, AgentTypeConfig>>;
  readonly state_file?:
    | string
    | {
        readonly path: string;
        readonly agents?: string;
        readonly agent_type?: string;
        readonly task_id?: string;
        readonly started_at?: string;
      };
}

/** What an agent of this type is started with; `{task}` in the command stands for its task. */
export interface AgentTypeConfig extends SurroundingsConfig {
  readonly command: readonly string[];
  readonly assigned_to?: string;
  readonly min_uptime?: Duration;
  readonly stop?: { readonly signal?: string; readonly grace?: Duration };
  readonly backoff?: {
    readonly initial?: Duration;
    readonly factor?: number;
    readonly max?: Duration;
    readonly jitter?: number;
  };
  readonly limits?: { readonly memory?: Size; readonly pids?: number; readonly nofile?: number };
}
