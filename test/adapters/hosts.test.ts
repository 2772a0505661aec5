import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowHosts } from '../../adapters/hosts.ts';
import { Fault } from '../../domain/fault.ts';

const rows: readonly (readonly [string, string, boolean])[] = [
  ['api.example.com', 'https://api.example.com/v1', true],
  ['API.example.com', 'https://api.EXAMPLE.com/v1', true],
  ['api.example.com', 'https://api.example.com.evil.test/v1', false],
  ['*.example.com', 'https://a.b.example.com/', true],
  ['*.example.com', 'https://example.com/', false],
  ['*.example.com', 'https://xexample.com/', false],
  ['localhost:8000', 'http://localhost:8000/', true],
  ['localhost:8000', 'http://localhost:9000/', false],
  ['api.example.com:443', 'https://api.example.com/', true],
  ['[::1]', 'http://[::1]:8000/', true],
  ['api.example.com', 'https://api.example.com@evil.test/', false],
];

for (const [pattern, url, allowed] of rows) {
  test(`${pattern} ${allowed ? 'allows' : 'does not allow'} ${url}`, () => {
    const check = () => allowHosts([pattern])(new URL(url));
    if (allowed) check();
    else
      assert.throws(
        check,
        (error) => error instanceof Fault && error.code === 'denied' && error.blame === 'configuration',
      );
  });
}

test('without patterns every host is allowed', () => {
  allowHosts([])(new URL('http://169.254.169.254/'));
});
