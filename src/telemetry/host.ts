/** Whether the program that this runs in has set up OpenTelemetry itself. Asked without loading any of it. */

/** Where OpenTelemetry's API keeps what was registered: one place for all its copies of one major version. */
const KEY = Symbol.for('opentelemetry.js.api.1');

export interface HostProviders {
  readonly traces: boolean;
  readonly metrics: boolean;
}

export const NO_HOST: HostProviders = { traces: false, metrics: false };

export function hostProviders(): HostProviders {
  const registered = (globalThis as { [KEY]?: { readonly trace?: unknown; readonly metrics?: unknown } })[KEY];
  return { traces: registered?.trace !== undefined, metrics: registered?.metrics !== undefined };
}
