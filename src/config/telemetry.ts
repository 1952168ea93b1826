/** Where traces and metrics go. */
import { z } from 'zod';
import { DEFAULTS } from './defaults.ts';
import { boolean, leaf, optional, orVariable } from './leaves.ts';
import { readReceiver } from './readers/network.ts';

export const telemetrySchema = z.strictObject({
  otlp: optional(leaf(readReceiver, 'URL', orVariable({ pattern: '^$|^https?://' })), {
    description:
      'The base URL of an OTLP receiver: traces and metrics are sent there by HTTP as protobuf. Empty text means none.',
    defaultNote: 'from the OTEL_EXPORTER_OTLP_… variables of the daemon, else none',
    example: 'http://localhost:4318',
  }),
  prometheus: optional(boolean, {
    description: 'Serve the metrics as Prometheus text at `/metrics`.',
    defaultsTo: DEFAULTS.telemetry.prometheus,
    example: true,
  }),
});
