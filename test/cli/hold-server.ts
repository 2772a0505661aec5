// A process that uses the folder's server until its input ends: `node hold-server.ts FOLDER`.
import process from 'node:process';
import { processShell } from '../../cli/shell.ts';
import { acquireServer } from '../../cli/temporal-server/index.ts';

const server = await acquireServer({ shell: processShell(), folder: process.argv[2] ?? '.' });
process.stdout.write(`${JSON.stringify(server)}\n`);
for await (const _ of process.stdin);
await server.release();
