/** Escape sequences of terminals, as programs write them into their output. */

/**
 * Colours and the like. A sequence that never ends loses its introducer only, so no text is ever hidden. Each part excludes what
 * begins the next one, so this takes linear time.
 */
export const ESCAPE_SEQUENCE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** The short ones of them, which have no text in them. */
export const COLOUR = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** For comparing with what people look for. What is shown on a terminal needs more care: see the CLI. */
export const withoutEscapes = (text: string): string =>
  text.includes('\u001b') ? text.replace(ESCAPE_SEQUENCE, '') : text;
