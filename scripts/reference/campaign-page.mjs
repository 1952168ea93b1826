/** docs/reference/campaign.md: every key of a campaign file. */
import { sections } from './keys.mjs';
import { GENERATED } from './markdown.mjs';

const INTRODUCTION = `# Campaign file reference

What \`keepwell campaign run FILE\` reads; the [guide](../guide/campaigns.md) says what happens with it. Durations, variables and names are written
as in [keepwell.yaml](config.md). Relative paths start at the folder of the campaign file. Unknown keys are refused.

An experiment needs a \`service\`, its own or from its \`matrix\`. What it does not say itself (\`command\`, \`timeout\`, \`retries\`) it has from the campaign.`;

export function campaignPage({ describeCampaign }) {
  return `${[GENERATED, INTRODUCTION, ...sections(describeCampaign())].join('\n\n')}\n`;
}
