// A challenge platform: every visitor gets a container of their own, which is healed when it hangs and gone when its time is over.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { ChallengeOrchestrator } from 'keepwell';

const page = readFileSync(new URL('page.html', import.meta.url));

const challenges = new ChallengeOrchestrator({
  owner: 'ctf-example',
  templates: {
    web: {
      image: 'ctf-example',
      port: 8080,
      ttl: '10m',
      max_ttl: '1h',
      limits: { memory: '32MiB' },
      healthcheck: {
        command: ['sh', '-c', 'echo "GET / HTTP/1.0" | nc -w 1 127.0.0.1 8080 | grep -q flag'],
        period: '1s',
        timeout: '2s',
        failure_threshold: 2,
      },
    },
  },
  onHealthChange: ({ userId }, { status, reason }) => console.log(`${userId}: ${status} ${reason}`),
  onSessionEnd: ({ userId }, { why }) => console.log(`${userId}: over, ${why}`),
});

/** What the buttons of the page do. */
const actions = {
  async start(visitor) {
    await challenges.spawnChallenge(visitor, 'web');
  },
  async stop(visitor) {
    for (const { sessionId } of challenges.sessions.listUserSessions(visitor))
      await challenges.stopChallenge(sessionId);
  },
  async extend(visitor) {
    for (const { sessionId } of challenges.sessions.listUserSessions(visitor))
      await challenges.extend(sessionId, 600_000);
  },
  async hang(visitor) {
    for (const { host, port } of challenges.sessions.listUserSessions(visitor))
      await fetch(`http://${host}:${port}/hang`);
  },
};

/** How the visitor's challenge is right now. Nothing is asked for this: it is known already. */
function state(visitor) {
  const [session] = challenges.sessions.listUserSessions(visitor);
  return session ? { session, health: challenges.getContainerHealth(session.sessionId) } : { session: null };
}

/** Visitors are told apart by a cookie. A real platform has accounts. */
function visitorOf(request, response) {
  const known = /visitor=([0-9a-f-]{36})/.exec(request.headers.cookie ?? '')?.[1];
  const visitor = known ?? randomUUID();
  if (!known) response.setHeader('Set-Cookie', `visitor=${visitor}; HttpOnly; SameSite=Strict; Path=/`);
  return visitor;
}

const server = createServer(async (request, response) => {
  const visitor = visitorOf(request, response);
  const name = request.url.slice(1);
  const action = request.method === 'POST' && Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (request.method === 'GET' && request.url === '/') return response.setHeader('Content-Type', 'text/html').end(page);
  try {
    await action?.(visitor);
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(state(visitor)));
  } catch (error) {
    // One challenge each, the Engine is away, …: the message says what, and the hint what to do.
    response.statusCode = 409;
    response.end(JSON.stringify({ ...state(visitor), error: error.message, hint: error.hint }));
  }
});

server.listen(process.env.PORT ?? 8000, '127.0.0.1', () => {
  console.log(`open http://127.0.0.1:${server.address().port}/`);
});

// Visitors keep their challenges while the platform is restarted: the next one takes them over.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close();
    server.closeAllConnections();
    await challenges.shutdown();
    console.log('all challenges live on until their time is over');
  });
}
