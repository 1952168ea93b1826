/** A stack in which everything happens that the page has a place for: it runs, waits, crashes, gives up, is not ready, and says hostile things. */
import { TestProject } from './project.ts';

/** What a program may say to hurt whoever reads it. */
export const HOSTILE = [
  '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>',
  '\u001b]8;;https://evil.example/\u0007click me\u001b]8;;\u0007 after the link',
  'bidi \u202egnp.exe\u202c and \u2066isolated\u2069',
  'שלום עולם مرحبا',
  'password=hunter2hunter2 and token=ghp_0123456789abcdefghijABCDEFGHIJ012345',
  '\u001b[31mred\u001b[0m \u001b[1;32mbold green\u001b[0m plain',
];

const TALKER = `
const lines = ${JSON.stringify(HOSTILE)};
for (const line of lines) console.log(line);
console.log('x'.repeat(1_000_000));
let count = 0;
setInterval(() => console.log(new Date().toISOString() + ' \\u001b[36minfo\\u001b[0m request ' + ++count + ' took 12 ms'), 700);
`;

/** What it dies of is as hostile as what it says: that goes into causes, titles, tickets and events. */
const ATTACKER = `
console.log('up');
setTimeout(() => {
  throw new TypeError('<img src=x onerror="window.hacked=4"> \\u202egnp.exe \\u001b]8;;https://evil.example/\\u0007link\\u001b]8;;\\u0007 password=hunter2hunter2');
}, 200);
`;

/** The answer of a check, and the name of a task. */
export const HOSTILE_TASK = '<img src=x onerror="window.hacked=5">';

const CRASHER = `
function price(cart) { return cart.items.map((item) => item.price.amount); }
console.log('<img src=x onerror="window.hacked=3"> listening');
console.log('order 4711 came in');
setTimeout(() => price({ items: [{ }] }), 300);
`;

export function pageStack(): TestProject {
  const project = new TestProject(`
version: 1
name: shop
components:
  database: { process: { command: [node, talker.js] }, readiness: { exec: { command: ["true"] }, period: 2s } }
  cache: { process: { command: [sleep, "100000"] }, liveness: { exec: { command: ["true"] }, period: 3s } }
  api: { process: { command: [sleep, "100000"] }, depends_on: { database: ready }, readiness: { exec: { command: [test, -e, ready] }, period: 1s } }
  web: { process: { command: [sleep, "100000"] }, depends_on: { api: ready, cache: started } }
  mailer: { process: { command: [node, crasher.js] }, depends_on: { cache: started }, restart: { backoff: { initial: 5m, max: 5m } } }
  billing: { process: { command: [node, crasher.js] }, depends_on: { database: started }, restart: { policy: never } }
  attacker: { process: { command: [node, attacker.js], env: { API_TOKEN: "s3cr3t-s3cr3t-s3cr3t" } }, restart: { policy: never } }
  reports: { process: { command: [sleep, "100000"] }, depends_on: { mailer: started } }
checks:
  disk: { file_exists: /tmp, hint: "mount it" }
  certificate: { file_exists: /no/such/file, hint: "renew it with make certs" }
  shop-ready: { component: cache, needs: [disk] }
  hostile: { exec: { command: [node, -e, "console.log('<img src=x onerror=window.hacked=6>'); process.exit(1)"] } }
health: { every: 5s }
agents:
  max_respawns: 0
  types:
    reviewer: { command: [node, attacker.js, "{task}"] }
`);
  project.write('talker.js', TALKER);
  project.write('crasher.js', CRASHER);
  project.write('attacker.js', ATTACKER);
  return project;
}
