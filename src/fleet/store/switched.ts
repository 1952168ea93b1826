/** The memory that hosts share, as the configuration wants it right now. What it needs is loaded when it is switched on, and never otherwise. */
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedConfig } from '../../config/load.ts';
import type { Commit, Store } from '../../history/ports.ts';
import type { AlertService } from '../../incidents/alerts/ports.ts';
import { ALONE, type Incidents, type SharedTelling } from '../../incidents/ports.ts';
import type { StatusView } from '../../supervision/rules/views.ts';
import type { FleetStore } from './service.ts';

interface SwitchedOptions extends Pick<Runtime, 'clock' | 'log' | 'random'> {
  readonly home: string;
  readonly store: Store;
}

interface Around {
  readonly incidents: Pick<Incidents, 'overEverywhere' | 'ailing'>;
  readonly alerts: AlertService;
  status(): StatusView;
}

type Configured = Pick<ResolvedConfig, 'name' | 'store'>;

export interface SwitchedFleetStore extends SharedTelling {
  /** From now on, and by this configuration. Never throws. */
  begin(around: Around, config: Configured): void;
  /** This is the configuration from now on; does nothing before `begin`. Never throws. */
  apply(config: Configured): void;
  /** Something was written to the history. */
  noted(commits: readonly Commit[]): void;
  /** 'ok', or a sentence about what is wrong; null: nobody asked for it. */
  health(): string | null;
  close(how: { readonly isDown: boolean }): Promise<void>;
}

export function switchedFleetStore({ home, store, clock, log, random }: SwitchedOptions): SwitchedFleetStore {
  let now: FleetStore | null = null;
  let around: Around | null = null;
  let inForce = '';
  let retentionMs = 0;
  let problem: string | null = null;
  /** One is closed before the next begins: both would be the same host. */
  let changing: Promise<void> = Promise.resolve();

  async function change({ name, store: { fleet } }: Configured, from: Around): Promise<void> {
    const before = now;
    now = null;
    await before?.close({ isDown: false });
    problem = null;
    if (fleet === null) {
      from.alerts.handled();
      return;
    }
    try {
      const { openFleetStore } = await import('./open.ts');
      now = openFleetStore({
        ...{ url: fleet, project: name, home, history: store, clock, log, random },
        ...{ incidents: from.incidents, alerts: from.alerts },
        status: () => from.status(),
        retentionMs: () => retentionMs,
      });
    } catch (error) {
      problem = `it cannot be switched on: ${(error as Error).message}`;
      log.warn('the fleet store cannot be switched on; this host works alone', { problem });
    }
  }

  const apply = (config: Configured): void => {
    if (around === null) return;
    retentionMs = config.store.retentionMs;
    const key = JSON.stringify([config.name, config.store.fleet]);
    if (key === inForce) return;
    inForce = key;
    const from = around;
    changing = changing.then(() => change(config, from));
  };

  const shared = (): SharedTelling => now ?? ALONE;
  return {
    begin: (from, config) => {
      around = from;
      if (config.store.fleet !== null) apply(config);
      else inForce = JSON.stringify([config.name, null]);
    },
    apply,
    noted: (commits) => now?.noted(commits),
    health: () => problem ?? now?.health() ?? null,
    close: async (how) => {
      await changing;
      await now?.close(how);
    },
    name: () => shared().name(),
    alerter: (fingerprint) => shared().alerter(fingerprint),
    holdsBack: (fingerprint) => shared().holdsBack(fingerprint),
    mayTell: (call, signal) => shared().mayTell(call, signal),
  };
}
