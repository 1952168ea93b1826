/** What incidents are called in alerts. */
export const incidentKey = (id: number): string => `incident ${id}`;

/** What was given up without an incident of its own: that of what took it along is over, or the history is lost. */
export const givenUpKey = (component: string): string => `gave-up ${component}`;

/** What the freeze of the loop that spawns agents is called there. */
export const loopFreezeKey = (loop: string): string => `freeze:${loop}`;
