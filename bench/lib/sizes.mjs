/** How much of everything is measured. Rounds end earlier when their time is over, so that the whole run has an end. */

/** All of it within 20 minutes on two cores; `--short` takes about half of that. */
export const FULL = {
  ...{ restarts: 100, restartLimitMs: 180_000 },
  ...{ fleets: [100, 500], fleetRounds: 5, fleetLimitMs: 60_000 },
  ...{ counts: [10, 100, 500, 1_000], settleMs: 8_000, idleMs: 15_000, statuses: 20, statusLimitMs: 15_000 },
  ...{ logBytes: 64e6, logRounds: 9, logLimitMs: 50_000 },
  ...{ probed: 200, hungServers: 5, probeSettleMs: 8_000, probeMs: 20_000 },
  ...{ hungRounds: 3, hungLimitMs: 20_000, mortals: 20, dying: 5, deathSettleMs: 3_000 },
  ...{ faults: 12, faultLimitMs: 35_000, watched: 30 },
};

/** The same cases with fewer rounds and less waiting, for when there is no more time. */
export const SHORT = {
  ...FULL,
  ...{ restarts: 40, restartLimitMs: 80_000 },
  ...{ fleetRounds: 2, fleetLimitMs: 30_000 },
  ...{ counts: [10, 100, 500], settleMs: 5_000, idleMs: 10_000, statuses: 10, statusLimitMs: 8_000 },
  ...{ logRounds: 5, logLimitMs: 25_000 },
  ...{ probeSettleMs: 5_000, probeMs: 10_000 },
  ...{ hungRounds: 1, hungLimitMs: 10_000, faults: 6, faultLimitMs: 20_000 },
};

/** Of the ratios that the gate compares, enough rounds to trust their middle. */
export const GATE = {
  ...FULL,
  restarts: 60,
  restartLimitMs: 100_000,
  fleetRounds: 3,
  counts: [10, 100, 500],
  logRounds: 6,
};

/** Whether all of it works, in seconds. */
export const QUICK = {
  ...{ restarts: 2, restartLimitMs: 3_000 },
  ...{ fleets: [3, 6], fleetRounds: 1, fleetLimitMs: 5_000 },
  ...{ counts: [2, 4, 6], settleMs: 100, idleMs: 300, statuses: 2, statusLimitMs: 2_000 },
  ...{ logBytes: 2e6, logRounds: 1, logLimitMs: 1_000 },
  ...{ probed: 10, hungServers: 1, probeSettleMs: 200, probeMs: 2_000 },
  ...{ hungRounds: 1, hungLimitMs: 5_000, mortals: 4, dying: 1, deathSettleMs: 500 },
  ...{ faults: 2, faultLimitMs: 15_000, watched: 2 },
};
