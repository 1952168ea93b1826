/** The senders to the receivers of the settings. One that cannot be had is said and left out. */
import type { Log } from '../base/log.ts';
import { createSender, type Outages, placeOf, type Sender, watchOutages } from './otlp/sender.ts';
import type { Receiver, Signal, TelemetrySettings } from './settings.ts';

export interface Receivers {
  readonly traces: Sender | null;
  readonly metrics: Sender | null;
  readonly outages: Outages;
  close(): void;
}

export function openReceivers(settings: TelemetrySettings, log: Log): Receivers {
  const open = (signal: Signal): Sender | null => {
    const receiver = settings[signal];
    return receiver && senderOrNote(signal, receiver, log);
  };
  const place = (signal: Signal) => (settings[signal] ? placeOf(settings[signal].url) : '');
  const traces = open('traces');
  const metrics = open('metrics');
  return {
    traces,
    metrics,
    outages: watchOutages(log, { traces: place('traces'), metrics: place('metrics') }),
    close: () => {
      traces?.close();
      metrics?.close();
    },
  };
}

/** A certificate that cannot be read is no reason not to supervise. */
function senderOrNote(signal: Signal, receiver: Receiver, log: Log): Sender | null {
  try {
    return createSender(receiver);
  } catch (error) {
    log.warn(`${signal} are not sent: ${(error as Error).message}`);
    return null;
  }
}
