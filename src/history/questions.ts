/** All questions about the history, answered from rows: the same for the database, for the memory, and for both together. */

import { campaignQuestions } from './campaigns.ts';
import { componentRecords, metaOf } from './components.ts';
import { crashQuestions } from './crashes.ts';
import { eventQuestions } from './events.ts';
import type { History } from './ports.ts';
import { recordQuestions } from './records.ts';
import { runQuestions } from './runs.ts';
import { stretchQuestions } from './stretches.ts';
import type { Rows } from './table.ts';

export const historyOf = (rows: Rows): History => ({
  components: () => componentRecords(rows),
  meta: (key) => metaOf(rows, key),
  ...runQuestions(rows),
  ...crashQuestions(rows),
  ...eventQuestions(rows),
  ...stretchQuestions(rows),
  ...recordQuestions(rows),
  ...campaignQuestions(rows),
});
