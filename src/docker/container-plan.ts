import type { HealthCheckTimes } from '../supervision/rules/container-health.ts';
import type { SignalName } from '../base/pure/exit.ts';

/** Everything a container is made with. Times in ms; what is absent or null is as the image or the Engine has it. */
export interface ContainerPlan {
  readonly image: string;
  readonly command: readonly string[] | null;
  readonly entrypoint: readonly string[] | null;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly workdir: string | null;
  /** A process that reaps and passes on signals is put before the command. */
  readonly init: boolean;
  readonly stopSignal: SignalName | null;
  readonly healthCheck: { readonly command: readonly string[]; readonly times: HealthCheckTimes } | 'none' | null;
  /** A network's name, "none", "host" or "bridge"; null: the Engine's default. */
  readonly network: string | null;
  /** `hostPort` null: the Engine chooses one. */
  readonly ports: readonly {
    readonly port: number;
    readonly protocol: 'tcp' | 'udp';
    readonly hostIp: string;
    readonly hostPort: number | null;
  }[];
  /** As Docker writes them: "/host/path:/in/container:ro", "name:/in/container". */
  readonly binds: readonly string[];
  /** Path → options: "rw,size=16m". */
  readonly tmpfs: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly dropCapabilities: readonly string[];
  readonly addCapabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  readonly memoryBytes: number | null;
  readonly cpus: number | null;
  readonly pids: number | null;
  readonly nofile: number | null;
}
