/** Secrets that are told by their shape alone: most issuers begin theirs with letters of their own. */
import { type Span, spansOf } from './span.ts';

const WORD = '[A-Za-z0-9_]';
const DASHED = '[A-Za-z0-9_-]';
const DOTTED = '[A-Za-z0-9_.-]';
const HEX = '[0-9a-f]';

/** How they begin, what follows, and how much of it at least. */
const PREFIXED: readonly (readonly [prefixes: readonly string[], body: string, min: number])[] = [
  [['AKIA', 'ASIA', 'ABIA', 'ACCA'], '[0-9A-Z]', 16], // AWS key id
  [['amzn.mws.'], '[0-9a-f-]', 30],
  [['AIza'], DASHED, 30], // Google
  [['ya29.'], DASHED, 20],
  [['GOCSPX-'], DASHED, 20],
  [['1//0'], DASHED, 30],
  [['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'], WORD, 20],
  [['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glimt-', 'glagent-'], DOTTED, 16],
  [['GR1348941'], DASHED, 16],
  [['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxc-', 'xoxd-', 'xapp-'], DASHED, 10], // Slack
  [['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'], WORD, 10], // Stripe
  [['npm_'], '[A-Za-z0-9]', 30],
  [['pypi-AgE'], DASHED, 40],
  [['rubygems_'], HEX, 40],
  [['dckr_pat_', 'dckr_oat_'], DASHED, 20], // Docker
  [['hf_', 'api_org_'], '[A-Za-z0-9]', 30], // Hugging Face
  [['r8_', 'gsk_', 'xai-', 'pplx-', 'nvapi-', 'fw_'], DASHED, 24], // Replicate, Groq, xAI, Perplexity, NVIDIA, Fireworks
  [['SG.'], DOTTED, 30], // SendGrid
  [['xkeysib-'], DASHED, 40],
  [['shpat_', 'shpss_', 'shpca_', 'shppa_'], HEX, 32], // Shopify
  [['sq0atp-', 'sq0csp-'], DASHED, 20], // Square
  [['dop_v1_', 'doo_v1_', 'dor_v1_'], HEX, 40], // DigitalOcean
  [['HRKU-'], DASHED, 30], // Heroku
  [['dapi'], HEX, 32], // Databricks
  [['hvs.', 'hvb.', 'hvr.'], DASHED, 20], // Vault
  [['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'], DOTTED, 30], // Doppler
  [['lin_api_', 'lin_oauth_'], '[A-Za-z0-9]', 32], // Linear
  [['secret_', 'ntn_'], '[A-Za-z0-9]', 40], // Notion
  [['figd_', 'figu_'], DASHED, 30],
  [['PMAK-'], DASHED, 40], // Postman
  [['glsa_', 'glc_'], '[A-Za-z0-9_=+/]', 30], // Grafana
  [['sntrys_', 'sntryu_'], '[A-Za-z0-9_=+/]', 30], // Sentry
  [['NRAK-', 'NRAA-', 'NRII-'], DASHED, 20], // New Relic
  [['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], DOTTED, 30],
  [['sbp_', 'sb_secret_'], WORD, 30], // Supabase
  [['fm1r_', 'fm1a_', 'fm2_', 'fo1_'], '[A-Za-z0-9_=+/-]', 40], // Fly
  [['ATATT3', 'ATCTT3', 'ATBB'], '[A-Za-z0-9_=-]', 24], // Atlassian
  [['CCIPAT_', 'CCIPRJ_'], WORD, 30], // CircleCI
  [['bkua_'], HEX, 40], // Buildkite
  [['pul-'], HEX, 40], // Pulumi
  [['AGE-SECRET-KEY-1'], '[0-9A-Z]', 50],
  [['tskey-'], DASHED, 20], // Tailscale
  [['dt0c01.', 'dt0s01.'], DOTTED, 50], // Dynatrace
  [['EZAK', 'EZTK'], '[A-Za-z0-9]', 50], // EasyPost
  [['pat-na1-', 'pat-eu1-'], '[0-9a-f-]', 32], // HubSpot
  [['CFPAT-'], DASHED, 40], // Contentful
  [['AKCp'], '[A-Za-z0-9]', 60], // Artifactory
  [['tfp_'], DASHED, 40], // Typeform
  [['shippo_live_', 'shippo_test_'], HEX, 40],
  [['rdme_'], '[a-z0-9]', 60],
  [['EAACEdEose0cBA'], '[A-Za-z0-9]', 10], // Facebook
];

/** A prefix, one that begins within a word excluded. */
const begins = (prefixes: readonly string[]): string =>
  `(?<![A-Za-z0-9])(?:${prefixes.map((prefix) => prefix.replaceAll('.', '\\.')).join('|')})`;

interface Shape {
  /** One of these is in a text that has such a secret: looking for them first is much faster. */
  readonly hints: readonly string[];
  /** Its first group stands before the secret, its second one behind it. */
  readonly expression: RegExp;
}

const shape = (hints: readonly string[], expression: RegExp): Shape => ({ hints, expression });

const SHAPES: readonly Shape[] = [
  shape(
    [' ', '\t'],
    /\b((?:[Bb]earer|BEARER|[Bb]asic|BASIC)[ \t]+)(?=[A-Za-z0-9._~+/=-]*[\dA-Z=])[A-Za-z0-9._~+/=-]{8,}/g,
  ),
  shape(['eyJ'], /(?<![\w-])(?=[\w-]*?eyJ)[\w-]{11,}\.[\w-]{8,}\.[\w-]*/g), // JSON web token
  ...PREFIXED.map(([prefixes, body, min]) => shape(prefixes, new RegExp(`${begins(prefixes)}${body}{${min},}`, 'g'))),
  shape(['sk-'], /(?<![A-Za-z0-9])sk-(?=[\w-]{0,100}\d)[\w-]{16,}/g), // OpenAI, Anthropic and others
  shape(['SK'], /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![0-9a-f])/g), // Twilio
  shape(['key-'], /(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![0-9a-f])/g), // Mailgun
  shape(['-us'], /(?<![0-9a-z])[0-9a-f]{32}-us\d{1,2}(?!\d)/g), // Mailchimp
  shape([':AA'], /(?<!\d)\d{8,10}:AA[\w-]{32,35}/g), // Telegram
  shape(['.'], /(?<![\w-])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,40}/g), // Discord
  shape(['Q~'], /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}/g), // Azure
  shape(['.atlasv1.'], /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}/g), // Terraform
  shape(['pat'], /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/g), // Airtable
  shape(['hooks.slack.com/'], /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{20,}/g),
  shape(['/api/webhooks/'], /(discord(?:app)?\.com\/api\/webhooks\/)\d{5,25}\/[\w-]{20,}/g),
  shape(['.webhook.office.com/'], /(\.webhook\.office\.com\/)[\w/@-]{30,}/g),
  shape(['sig='], /([?&]sig=)[\w%+/=-]{16,}/g), // Azure
  shape(['X-Amz-', 'X-Goog-'], /(X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)=)[^\s&"'<>]+/g),
  shape(
    ['$2', '$1$', '$5$', '$6$', '$y$', '$argon2'],
    /\$(?:2[abxy]\$\d\d|[156y]|argon2(?:id|i|d)\$v=\d{1,3}\$m=\d{1,9},t=\d{1,3},p=\d{1,3})\$[\w./$+=,-]{20,}/g,
  ), // hashes of passwords
  // The password of a URL. It may have an @ in it, and then ends at the last one.
  shape(['://'], /((?<![a-z0-9+.-])[a-z0-9+.-]+:\/\/[^\s:/@]*:)[^\s/@]+(?:@[^\s/@"'`<>,;]*)*(@)/gi),
  // Or a slash, where no port and path can be meant.
  shape(['://'], /((?<![a-z0-9+.-])[a-z0-9+.-]+:\/\/(?!\[)[^\s:/@]*:)(?!\d{1,5}\/)[^\s@"'`<>,;]{1,200}(@)/gi),
  shape(['://'], /((?<![a-z0-9+.-])https?:\/\/)[\w~.%+-]{16,}(@)/gi), // a token alone as userinfo
];

export const shapesIn = (text: string): readonly Span[] =>
  SHAPES.flatMap(({ hints, expression }) =>
    hints.some((hint) => text.includes(hint)) ? spansOf(text, expression) : [],
  );

/** No secret of these is longer. */
const MAX_CUT_CHARS = 512;
/** Only as many characters as these have in common with ordinary words, so less is no sign of a secret. */
const MIN_CUT_CHARS = 4;

const CUT = PREFIXED.map(([prefixes, body]) => new RegExp(`${begins(prefixes)}${body}{${MIN_CUT_CHARS},}(?=\\s*$)`));
const CUT_OTHERS: readonly RegExp[] = [
  /(?<![\w-])eyJ[\w-]{4,}(?:\.[\w-]*){0,2}(?=\s*$)/,
  /(?<![A-Za-z0-9])sk-[\w-]{4,}(?=\s*$)/,
  /(?<=:\/\/[^\s:/@]{0,100}:)(?!\d{1,5}\s*$)[^\s/@]{1,400}$/,
];

/** At the end of a text that was cut: what begins like a secret. */
export function cutShapesIn(text: string): readonly Span[] {
  const end = text.slice(-MAX_CUT_CHARS);
  const before = text.length - end.length;
  return [...CUT, ...CUT_OTHERS].flatMap((expression) => {
    const match = expression.exec(end);
    return match ? [{ from: before + match.index, to: before + match.index + match[0].length }] : [];
  });
}
