#!/usr/bin/env -S node --max-semi-space-size=8
// The installed command. Old Nodes must be able to read this file, so what needs a new one is loaded last.
// (A small young generation halves the memory of a worker under load.)
import process from 'node:process';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major * 100 + minor >= 2218) {
  await import('../dist/cli/main.js');
} else {
  process.stderr.write(`regatta needs Node 22.18 or newer; this is ${process.versions.node}\n`);
  process.exitCode = 2;
}
