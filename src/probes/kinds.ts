/** Every kind of question that a probe can ask. A new one is a file in `kinds/`, its question in `supervision/rules/health/probe.ts`, and a name here. */

import type { z } from 'zod';
import type { QuestionKind } from '../supervision/rules/health/probe.ts';
import type { ProbeKind } from './kind.ts';
import { exec } from './kinds/exec.ts';
import { grpc } from './kinds/grpc.ts';
import { http } from './kinds/http.ts';
import { log } from './kinds/log.ts';
import { pid } from './kinds/pid.ts';
import { tcp } from './kinds/tcp.ts';
import { temporal } from './kinds/temporal.ts';
import { unix } from './kinds/unix.ts';

/** In the order in which pages and messages list them. */
export const PROBE_KINDS = { exec, http, tcp, unix, grpc, temporal, pid, log } satisfies {
  readonly [K in QuestionKind]: ProbeKind<K, z.ZodType>;
};
