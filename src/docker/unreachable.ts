/** Why the Engine could not be asked, as a sentence that says what to do about it. */
import { addressText } from './address.ts';
import { type Endpoint, type EngineEnv, isInstalled, type Places } from './endpoint.ts';

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export function explain({ code, message }: Failure, endpoint: Endpoint, env: EngineEnv, places: Places): string {
  const { address, namedBy } = endpoint;
  const place = addressText(address);
  const where = namedBy === null ? place : `${place} (named by ${namedBy})`;
  const start = address.kind === 'socket' ? 'start it, for instance with "systemctl start docker"' : 'start it there';
  switch (code) {
    case 'ENOENT':
      if (namedBy === null && !isInstalled(env, places))
        return `no Docker Engine is installed here, and there is no ${place}: install Docker, or set DOCKER_HOST to the socket it listens on`;
      return `the Docker Engine is not running, there is no ${where}: ${start}`;
    case 'ECONNREFUSED':
      return `the Docker Engine is not running, nobody listens on ${where}: ${start}`;
    case 'EACCES':
    case 'EPERM':
      return `permission to use ${where} was denied: let the user that runs Keepwell join the group "docker", or run Keepwell as root`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name of the machine with the Docker Engine, ${where}, cannot be resolved (${code})`;
    case 'EMFILE':
    case 'ENFILE':
      return `the Docker Engine could not be asked, too many files are open (${code}): raise the limit of open files`;
    case 'DEADLINE':
      return `the Docker Engine at ${where} hangs or is overloaded, ${message}: see whether "docker ps" answers, and restart the Engine if it does not`;
    default:
      return `the Docker Engine at ${where} gave no usable answer: ${message}`;
  }
}

export const wantsTls = ({ address }: Endpoint): string =>
  `the Docker Engine at ${addressText(address)} wants an encrypted connection: set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the folder with ca.pem, cert.pem and key.pem`;
