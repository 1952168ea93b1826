/**
 * How a frozen run was dealt with, and what it was doing then: with its crash.
 * Never edited after a release: a change is a new file.
 */
export const FREEZES = `
ALTER TABLE crashes ADD COLUMN freeze_json TEXT;
`;
