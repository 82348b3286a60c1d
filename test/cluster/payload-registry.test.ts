import { expect, test } from 'vitest';
import { startRegistry } from '../kit/registry.ts';

test('the registry of Debian answers on loopback', async () => {
  await using registry = await startRegistry();
  const answer = await fetch(`http://${registry.host}/v2/`);
  expect([answer.status, await answer.json()]).toEqual([200, {}]);
});
