/** Which campaign is meant, and which of its experiments. */
import type { CampaignSpec } from './spec.ts';
import { AppError } from '../base/pure/errors.ts';
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { CampaignBook, CampaignRecord } from './ports.ts';

const MAX_SHOWN = 80;

export const isUnfinished = ({ state }: CampaignRecord): boolean => state !== 'done' && state !== 'failed';

/** Nothing was ever begun: there is nothing in it to go on with. */
export const wasBegun = ({ experiments }: CampaignRecord): boolean => experiments.some(({ attempts }) => attempts > 0);

/** Throws NO_SUCH_CAMPAIGN. */
export function chosen(book: CampaignBook, name: string): CampaignRecord {
  const record = book.find(name);
  if (record) return record;
  const names = book.list().map((one) => one.name);
  throw new AppError('NO_SUCH_CAMPAIGN', { name: `called ${name}`, meant: didYouMean(name, names) });
}

/** It becomes the name of a folder. Throws USAGE. */
export function validName(name: string): string {
  if (NAME_PATTERN.test(name) && !name.includes('..')) return name;
  const problem = `A campaign cannot be called ${JSON.stringify(name.slice(0, MAX_SHOWN))}: only lower-case letters, digits, dots, dashes and underscores, at most 63.`;
  throw new AppError('USAGE', { problem });
}

/** The name itself, or with the next number that is free: the same campaign may be run every night. */
export function freeName(book: CampaignBook, name: string): string {
  let candidate = name;
  for (let number = 2; book.find(candidate) !== null; number += 1) candidate = `${name}-${number}`;
  return candidate;
}

/** Throws USAGE when one of them does not exist. */
export function onlyThese(spec: CampaignSpec, only: readonly string[]): CampaignSpec {
  if (only.length === 0) return spec;
  const names = spec.experiments.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const problem = `There is no experiment ${unknown} in the campaign ${spec.name}.${didYouMean(unknown, names)}`;
    throw new AppError('USAGE', { problem });
  }
  return { ...spec, experiments: spec.experiments.filter(({ name }) => only.includes(name)) };
}
