/** The schemas that several routes share. Unknown keys are refused everywhere: an option we accept is an option we honour. */
import { z } from 'zod';

/** The beginning of every answer. */
export const V1 = { schema_version: 1 } as const;

export const NO_QUERY = z.strictObject({});
/** For GET, where no body is read. */
export const NO_BODY = z.undefined();
/** For POST without arguments: still a JSON object, so that no plain form of a web page can send it. */
export const EMPTY_BODY = z.strictObject({});

/** What a name may look like here is wide on purpose: whether it exists is what counts, and is answered with the nearest one. */
export const NAME = z.string().min(1).max(200);
export const NAMES = z.array(NAME).max(1000);

/** A whole number written in a query. `documented` is what the OpenAPI document says instead of "text of digits". */
const digits = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, { message: `must be between ${min} and ${max}` })
    .meta({ documented: { type: 'integer', minimum: min, maximum: max } });

/** A sequence number. */
export const SEQ = digits(0, 999_999_999_999_999);
export const limit = (max: number) => digits(1, max);
export const upTo = (max: number) => digits(0, max);

/** `a,b,c`: names have no commas. */
export const NAME_LIST = z
  .string()
  .max(8_000)
  .transform((text) => text.split(','))
  .pipe(z.array(NAME).max(100))
  .meta({ documented: { type: 'string', pattern: '^[^,]+(,[^,]+)*$' } });

/** `true` or `false`. */
export const FLAG = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ documented: { type: 'boolean' } });

/** ISO 8601 or epoch milliseconds. */
export const TIME = z
  .string()
  .max(40)
  .transform((text, context): number => {
    const at = /^\d{1,15}$/.test(text) ? Number(text) : /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isFinite(at)) return at;
    context.addIssue({ code: 'custom', message: 'must be a time like 2026-01-02T03:04:05Z or epoch milliseconds' });
    return z.NEVER;
  })
  .meta({ documented: { type: 'string', maxLength: 40 } });
