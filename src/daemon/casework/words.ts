/** What incidents are called in alerts. */
export const incidentKey = (id: number): string => `incident ${id}`;

/** Of the dependents that were taken along; the rest is counted. */
export const MAX_AFFECTED_NAMED = 5;
