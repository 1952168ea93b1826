/** Passes when a connection can be made. Nothing is sent. */

import { hangUp } from '../base/hang-up.ts';
import type { Inquiry } from '../supervision/ports/prober.ts';
import type { ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { pass } from './answers.ts';
import { within } from './deadline.ts';
import { inquiry } from './inquiry.ts';
import type { Names } from './names/names.ts';
import { connect } from './net/connect.ts';

type TcpQuestion = Extract<ProbeQuestion, { kind: 'tcp' }>;

export const tcpInquiry = (question: TcpQuestion, names: Names): Inquiry =>
  inquiry((timeoutMs, signal) =>
    within(timeoutMs, signal, async (deadline) => {
      void hangUp(await connect(question, names, deadline));
      return pass('connected');
    }),
  );
