import { Agent, type Dispatcher } from 'undici';

/**
 * The one agent of a process for model endpoints and HTTP targets: connections are kept and shared by host.
 * It sets no time limit on headers and bodies, as every call brings its own; connecting may take 10 s.
 * Close it with `close()` (waits for calls in flight) or `destroy()`.
 */
export function createHttpAgent(): Dispatcher {
  return new Agent({
    // More than all endpoints of a worker keep in flight by default; a bound against a runaway, not a pace.
    connections: 1024,
    pipelining: 1,
    // One slow stream must not hold back the others of its connection.
    allowH2: false,
    connect: { timeout: 10_000 },
    headersTimeout: 0,
    bodyTimeout: 0,
    // Many servers drop an idle connection after 5 s without saying so; a call sent just then has an unknown fate.
    keepAliveTimeout: 4_000,
    keepAliveTimeoutThreshold: 2_000,
  });
}
