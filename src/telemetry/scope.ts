/** Who says so, in everything that is sent. */
import { VERSION } from '../version.ts';

export const SCOPE = { name: 'keepwell', version: VERSION } as const;
