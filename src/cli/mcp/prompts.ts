/** Questions that people ask most, ready to be chosen in a client. Each brings along what Keepwell knows, so it works without tools, too. */
import { completable, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Answer, failure } from './answer.ts';
import type { McpProject } from './project.ts';
import { NAME, SINCE } from './tool.ts';
import { crashesAnswer, logsAnswer, whyAnswer } from './tools-past.ts';
import { problemsAnswer, statusAnswer } from './tools-state.ts';

/** Lines that come along with a question. */
const LINES = 60;
const MAX_CRASHES = 50;

export function addPrompts(server: McpServer, project: McpProject, names: (typed: string) => Promise<string[]>): void {
  const name = completable(NAME, (typed) => names(typed ?? ''));
  server.registerPrompt(
    'explain_crash',
    {
      title: 'Explain the last crash of a component',
      description: 'Why it died, what it means, and what to do about it.',
      argsSchema: z.object({ name }),
    },
    async ({ name: component }) =>
      asked(
        `Explain the last crash of "${component}": what happened, the most likely cause with the line of output or stack that shows it, and what to change. Say what you are not sure of.`,
        [await told(whyAnswer(project, { component }))],
      ),
  );
  server.registerPrompt(
    'why_not_ready',
    {
      title: 'Why is a component not ready?',
      description: 'Its probes, what it waits for, and what it wrote last.',
      argsSchema: z.object({ name }),
    },
    async ({ name: component }) =>
      asked(
        `Why is "${component}" not ready? Look at its state, its probes, what it waits for and what it wrote. Say what blocks it and what to do.`,
        [
          await told(statusAnswer(project, component)),
          await told(logsAnswer(project, { name: component, tail: LINES })),
        ],
      ),
  );
  server.registerPrompt(
    'summarise_night',
    {
      title: 'Summarise the night',
      description: 'What died, what recovered by itself, and what still needs somebody.',
      argsSchema: z.object({ since: SINCE.optional() }),
    },
    async ({ since = '12h' }) =>
      asked(
        `Summarise what happened since ${since}: what died and why (one line for each cause, not for each crash), what recovered by itself, and what still needs somebody, most urgent first.`,
        [await told(problemsAnswer(project)), await told(crashesAnswer(project, { since, limit: MAX_CRASHES }))],
      ),
  );
}

/** What went wrong while asking is a part of the answer. */
const told = (answer: Promise<Answer>): Promise<Answer> => answer.catch(failure);

const asked = (question: string, answers: readonly Answer[]) => ({
  messages: [{ type: 'text' as const, text: question }, ...answers.flatMap(({ content }) => content)].map(
    (content) => ({
      role: 'user' as const,
      content: { ...content },
    }),
  ),
});
