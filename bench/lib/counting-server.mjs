/** A web server that counts who asked: prints its port, answers /count with the counts, and never answers under /hang. */
import { createServer } from 'node:http';

const counts = { keepwell: 0, monit: 0 };
const server = createServer((request, response) => {
  if (request.url === '/count') {
    response.end(JSON.stringify(counts));
    return;
  }
  const agent = request.headers['user-agent'] ?? '';
  if (/keepwell/i.test(agent)) counts.keepwell += 1;
  else if (/monit/i.test(agent)) counts.monit += 1;
  if (!request.url.startsWith('/hang')) response.end('ok');
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
