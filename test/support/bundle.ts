/**
 * Fixture programs written against `src`: bundled to CommonJS as the product is (Node 20 cannot run TypeScript), so the tests
 * also cover that the product works bundled.
 */
import { bundleFile } from '../../scripts/bundle.mjs';

export interface Bundle {
  /** Run it with `process.execPath`. */
  readonly path: string;
  remove(): void;
}

export const bundle = (entry: string): Promise<Bundle> => bundleFile(entry);
