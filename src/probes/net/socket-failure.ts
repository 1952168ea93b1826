/** What an error of a socket says: something about the other side, or only that we could not ask. */
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { Answered, fail, inconclusive } from '../answers.ts';

/** Our own machine is short of something. It says nothing about who should have been asked. */
const SHORTAGE: Readonly<Record<string, string>> = {
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  ENOMEM: 'there is not enough memory',
  ENOBUFS: 'there is no room for another socket',
  EAGAIN: 'there is no room for another connection',
};

/** This one address cannot be reached from here, whoever is there. */
const NOT_FROM_HERE: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'no local address or port is left',
  EACCES: 'this machine does not allow the connection',
  EPERM: 'this machine does not allow the connection',
};

const THEIR_FAULT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  EHOSTDOWN: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no connection (ETIMEDOUT)',
};

export const isShortage = (error: unknown): boolean => String((error as NodeJS.ErrnoException).code) in SHORTAGE;

export function socketFailure(error: unknown): Answer {
  if (error instanceof Answered) return error.answer;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const ours = SHORTAGE[code] ?? NOT_FROM_HERE[code];
  if (ours) return inconclusive(`${ours} (${code})`);
  return fail(THEIR_FAULT[code] ?? (code === '' ? message : `${message} (${code})`));
}
