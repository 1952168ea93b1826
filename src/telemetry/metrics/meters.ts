/** The meters that everything is measured with: our own, and that of the program around us if it has one. */
import { type Meter, metrics } from '@opentelemetry/api';
import { SCOPE } from '../scope.ts';
import { instruments, type Sources } from './instruments.ts';
import { type OwnMeterOptions, ownMeter } from './own-meter.ts';

export interface MetersOptions extends OwnMeterOptions {
  readonly sources: Sources;
  /** Somebody wants what our own one collects. */
  readonly own: boolean;
  /** The program around us has one. */
  readonly host: boolean;
}

export interface Meters {
  measured(tookMs: number, labels: Readonly<Record<string, string>>): void;
  text(): Promise<string>;
  /** Names went away. The SDK reports for ever what it has seen once, so our own begins afresh. */
  renew(): void;
  close(): Promise<void>;
}

export function openMeters(options: MetersOptions): Meters {
  const { sources, own, host } = options;
  const begin = () => {
    const made = ownMeter(options);
    return { made, ...instruments(made.meter, sources) };
  };
  let mine = own ? begin() : null;
  const theirs = host ? instruments(hostMeter(), sources) : null;
  return {
    measured: (tookMs, labels) => {
      for (const each of [mine, theirs]) each?.probes.record(tookMs / 1_000, labels);
    },
    text: async () => (await mine?.made.text()) ?? '',
    renew: () => {
      if (mine === null) return;
      mine.made.close().catch(() => {}); // what could not be sent is said by those who send
      mine = begin();
    },
    close: async () => {
      theirs?.stop(); // that meter goes on, and would ask for ever
      await mine?.made.close();
    },
  };
}

const hostMeter = (): Meter => metrics.getMeter(SCOPE.name, SCOPE.version);
