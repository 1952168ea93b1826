/** Errors around agents: a part of the table of all errors. */
import type { ErrorEntry } from '../error-entry.ts';

export const AGENT_ERRORS = {
  NO_SUCH_AGENT_TYPE: {
    message: 'There is no agent type "{name}".{suggestion}',
    hint: 'Types are under "agents.types" in the configuration; run "keepwell reload" after a change.',
    exitCode: 2,
    httpStatus: 404,
  },
  NO_SUCH_AGENT: {
    message: 'There is no agent with the pid or the task "{which}".',
    hint: '"keepwell agents list --all" lists current and past agents.',
    exitCode: 4,
    httpStatus: 404,
  },
  AGENT_NOT_OURS: {
    message: 'The agent {which} was started by another program, according to {file}.',
    hint: 'End it where it was started.',
    exitCode: 1,
    httpStatus: 409,
  },
  AGENT_TASK_INVALID: {
    message: 'The task is not valid: {problem}',
    hint: 'Give the id of the task, such as SPEC-111.',
    exitCode: 2,
    httpStatus: 400,
  },
  AGENT_ALREADY_RUNNING: {
    message: 'An agent of type "{type}" already works on the task {task} ({state}).',
    hint: 'Wait for it, or end it first with "keepwell agents stop TASK".',
    exitCode: 1,
    httpStatus: 409,
  },
  AGENTS_FULL: {
    message: 'There are {count} agents; the limit is {limit} at a time.',
    hint: 'Wait until some have finished, or end some with "keepwell agents stop TASK".',
    exitCode: 1,
    httpStatus: 503,
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;
