/** Every key of a campaign file as a row for the reference page, those of the items of its lists included. */
import { z } from 'zod';
import { inner, type KeyRow, rows } from './describe.ts';
import { campaignSchema } from './campaign-shape.ts';

export function describeCampaign(): readonly KeyRow[] {
  const lists = Object.entries(campaignSchema.shape).flatMap(([key, field]) => {
    const list = inner(field);
    return list instanceof z.ZodArray ? rows(list.element as z.ZodType, `${key}[].`) : [];
  });
  return [...rows(campaignSchema, ''), ...lists];
}
