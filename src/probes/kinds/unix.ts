/** Passes when a connection to a Unix socket can be made. Nothing is sent. */

import { connect } from 'node:net';
import { hangUp } from '../../base/hang-up.ts';
import { optional, path } from '../../config/leaves.ts';
import { row, scalarText } from '../../config/words/argv.ts';
import { FinalAnswer, fail, inquiry, pass, within } from '../inquiry.ts';
import type { ProbeKind } from '../kind.ts';
import { socketFailure } from '../net/connect.ts';

const schema = optional(path, {
  description:
    'Connect to the Unix socket at this path, relative to the folder of the first configuration file; an accepted connection passes.',
  defaultNote: 'none',
  example: './run/app.sock',
});

const UNIX = row('readiness.unix', './run/app.sock', '', scalarText);

/** What a path says when nobody has made the socket yet, or somebody made something else. */
const NO_LISTENER: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ENOTSOCK: 'it is not a socket',
  ECONNREFUSED: 'nobody listens on it',
  EACCES: 'Keepwell may not connect to it',
};

export const unix = {
  schema,
  missing: {},
  resolve: (written, home) => ({ kind: 'unix', path: home.absolute(written) }),
  words: { unixsocket: UNIX, socketpath: UNIX },
  open: (question) =>
    inquiry((timeoutMs, signal) =>
      within(timeoutMs, signal, async (deadline) => {
        const socket = connect({ path: question.path, allowHalfOpen: true });
        socket.on('error', () => {}); // for good: an error may come at any later time, too
        deadline.missing = 'no connection';
        try {
          await deadline.wait<void>((resolve, reject) => {
            socket.once('connect', resolve).once('error', reject);
            return () => socket.off('connect', resolve).off('error', reject);
          });
          return pass('connected');
        } catch (error) {
          if (error instanceof FinalAnswer) throw error;
          const known = NO_LISTENER[(error as NodeJS.ErrnoException).code ?? ''];
          return known === undefined ? socketFailure(error) : fail(known);
        } finally {
          void hangUp(socket);
        }
      }),
    ),
} satisfies ProbeKind<'unix', typeof schema>;
