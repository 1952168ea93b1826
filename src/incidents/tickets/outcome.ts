/** How deliveries end. */
import type { Delivered, DeliveryProblem, DeliveryResult } from './ports.ts';

export const done = (delivered: Delivered): DeliveryResult => ({ kind: 'done', delivered });

export const failed = (problem: DeliveryProblem): DeliveryResult => ({ kind: 'failed', problem });

export const later = (message: string, pauseMs?: number): DeliveryResult =>
  failed({ kind: 'later', message, ...(pauseMs === undefined ? {} : { pauseMs }) });

export const refused = (message: string): DeliveryResult => failed({ kind: 'refused', message });

export const halt = (message: string): DeliveryResult => failed({ kind: 'halt', message });
