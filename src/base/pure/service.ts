/** What a daemon and the systemd unit that runs it have agreed on. */

/** Set by the unit: its own name. A daemon that sees it is brought back by systemd and not by a guardian. */
export const SERVICE_VARIABLE = 'KEEPWELL_SERVICE';

/** The exit code of a handover under systemd: no success, so that the unit starts the next daemon, of whichever version is installed by then. */
export const HANDOVER_EXIT = 75;
