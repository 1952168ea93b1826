/**
 * The error that a program had written before it died of something else: with its crash.
 * Never edited after a release: a change is a new file.
 */
export const EARLIER_ERRORS = `
ALTER TABLE crashes ADD COLUMN earlier_json TEXT;
`;
