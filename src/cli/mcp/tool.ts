/** What a tool is: its name and description for the assistant, its arguments, and the function that answers. */
import { z } from 'zod';
import type { Answer } from './answer.ts';
import type { McpProject } from './project.ts';

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** When to call it, and what it answers. */
  readonly description: string;
  readonly input: Input;
  /** It changes something: only with --allow-control. `stops`: it may end what runs. */
  readonly controls?: { readonly stops: boolean };
  run(project: McpProject, input: z.output<Input>, signal: AbortSignal): Promise<Answer>;
}

/** With the type of the arguments for `run`; in the list they are all the same. */
export const tool = <Input extends z.ZodObject>(definition: Tool<Input>): Tool => definition as unknown as Tool;

export const NAME = z.string().min(1).max(200).describe('the name of a component, as in status');
export const PATTERN = z.string().min(1).max(200).describe('the name of a component, or a pattern such as "web-*"');
export const SINCE = z
  .string()
  .min(1)
  .max(40)
  .describe('how long ago (10m, 2h, 1d), a time of today (03:04), or a day (2026-01-02 or 2026-01-02T03:04)');

export const count = (max: number, fallback: number) => z.int().min(1).max(max).default(fallback);
