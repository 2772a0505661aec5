import { type ClientHttp2Session, connect } from 'node:http2';

const method = '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace';

/**
 * Whether a Temporal server with its namespace `default` answers on this port of the loopback within `limitMs`.
 * Asked by hand over HTTP/2, because loading the client package would cost every command that only looks.
 */
export async function isServing(port: number, limitMs: number): Promise<boolean> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    return (await askStatus(session, limitMs)) === '0';
  } finally {
    session.destroy();
  }
}

function askStatus(session: ClientHttp2Session, limitMs: number): Promise<unknown> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs);
    let status: unknown;
    const finish = () => {
      clearTimeout(timer);
      resolve(status);
    };
    session.on('error', finish);
    const request = session.request({
      ':method': 'POST',
      ':path': method,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    request.on('trailers', (headers) => {
      status = headers['grpc-status'];
    });
    request.on('error', finish);
    request.on('close', finish);
    request.resume();
    request.end(describeDefaultNamespace());
  });
}

// A gRPC frame (no compression, length) around the message { namespace: 'default' }, the field numbered 1.
function describeDefaultNamespace(): Buffer {
  const name = Buffer.from('default');
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
