// A process that holds a dev server until it is killed: prints the server's address.
import { startDevServer } from './dev-server.ts';

const servers = await Promise.all([startDevServer(), startDevServer()]);
process.stdout.write(`${JSON.stringify(servers.map(({ address }) => address))}\n`);
setInterval(() => undefined, 60_000);
