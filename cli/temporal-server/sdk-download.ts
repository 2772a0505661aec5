import process from 'node:process';
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [downloadDir = '.', version = 'default'] = process.argv.slice(2);

const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir, version } },
});
await environment.teardown();
