/** The public library: what is not exported here is not public. */
export { loadConfig, type ResolvedConfig } from './config/load.ts';
export type { ComponentSpec, RestartSpec as RestartPolicy } from './core/component.ts';
export { AppError, type ErrorCode } from './core/errors.ts';
export type { ComponentView as Component, CrashView as Crash, EventView, StatusView, WhyView } from './core/views.ts';
export { VERSION } from './version.ts';
