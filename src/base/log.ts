/** The daemon's own log: one JSON object a line in daemon.log. Never throws, also not on a full disk. */
export interface Log {
  info(message: string, data?: Readonly<Record<string, unknown>>): void;
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
  error(message: string, data?: Readonly<Record<string, unknown>>): void;
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
