import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { createS3Store } from '../../adapters/s3-store/index.ts';
import { startS3Server } from './s3-server.ts';
import { storeContract } from './store-contract.ts';

const server = await startS3Server();

if ('lacking' in server) {
  test('a store in a bucket of a real server', { skip: server.lacking }, () => {});
} else {
  after(() => server.stop());
  storeContract('S3 store on SeaweedFS', async () => {
    const address = `s3://${server.bucket}/${randomUUID()}`;
    return {
      store: createS3Store(address),
      elsewhere: {
        module: import.meta.resolve('../../adapters/s3-store/index.ts'),
        name: 'createS3Store',
        argument: address,
      },
      dispose: async () => {},
    };
  });
}
