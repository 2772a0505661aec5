export { paceWorkflow } from './pace.ts';
export { runWorkflow } from './run.ts';
export { shardWorkflow } from './shard.ts';
export { sweepWorkflow } from './sweep.ts';
