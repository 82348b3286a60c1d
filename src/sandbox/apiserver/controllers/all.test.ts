import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { type Log, silentLog } from '../../../base/log.ts';
import type { OwnerReference } from '../../../kube/resource.ts';
import { clusterRoles, configMaps, namespaces, secrets, serviceAccounts } from '../../../kube/resources.ts';
import { createAuthority } from '../auth/ca.ts';
import { jwtKey } from '../auth/jwt.ts';
import { TokenSigner } from '../auth/token-signer.ts';
import type { LocalApi } from '../ports.ts';
import { createControllers } from './all.ts';

const clock = manualClock();
const authority = createAuthority('kubernetes', clock);
const key = jwtKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const signer = new TokenSigner({ key, issuer: 'https://k', audiences: ['https://k'], clock });

/** All controllers, and the errors they have reported. */
function controllers(): { all: ReturnType<typeof createControllers>; errors: unknown[] } {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (_: string, fields?: object) => errors.push(fields) } as Log;
  return { all: createControllers({ authority, signer, log }), errors };
}
const everything = (api: LocalApi) =>
  api
    .resources()
    .flatMap(resource =>
      api.list(resource).map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
    );

test('a cluster settles shortly after its start', async () => {
  const { all, errors } = controllers();
  await using api = await startLocalApi(all, clock);
  await quiet(api);
  expect(api.get(clusterRoles, { namespace: '', name: 'cluster-admin' })).toBeDefined();
  expect(api.list(serviceAccounts)).toHaveLength(4);
  expect(api.list(configMaps)).toHaveLength(4);
  let changes = 0;
  api.onChange(() => {
    changes += 1;
  });
  await clock.advance(600_000);
  await quiet(api);
  expect(changes).toBe(0);
  expect(errors).toEqual([]);
});

test('stopped controllers change nothing and leave no timer behind', async () => {
  const { all, errors } = controllers();
  await using api = await startLocalApi(all, clock);
  await quiet(api);
  for (const controller of all) controller.stop();
  api.create(namespaces, { metadata: { name: 'late' } });
  api.delete(serviceAccounts, { namespace: 'default', name: 'default' });
  const before = everything(api);
  await clock.advance(600_000);
  expect(everything(api)).toEqual(before);
  expect(clock.sleepers()).toBe(0);
  expect(errors).toEqual([]);
});

test('any sequence of changes settles in a consistent state', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const anyAct = fc.oneof(
    fc.record({ do: fc.constant('create' as const), name, owner: fc.option(name), blocks: fc.boolean() }),
    fc.record({
      do: fc.constant('delete' as const),
      name,
      how: fc.constantFrom('Background' as const, 'Orphan' as const),
    }),
    fc.record({ do: fc.constant('account' as const), name }),
    fc.record({ do: fc.constant('token' as const), name }),
    fc.record({ do: fc.constant('drop account' as const), name }),
    fc.record({ do: fc.constant('settle' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyAct, { maxLength: 30 }), async acts => {
      const { all, errors } = controllers();
      await using api = await startLocalApi(all, clock);
      api.create(namespaces, { metadata: { name: 'storm' } });
      for (const act of acts) {
        if (act.do === 'settle') await quiet(api);
        else tolerate(() => perform(api, act));
      }
      await quiet(api);
      checkAtRest(api);
      api.delete(namespaces, { namespace: '', name: 'storm' });
      await quiet(api);
      expect(everything(api).filter(item => item.includes('storm'))).toEqual([]);
      expect(errors).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

type Act =
  | { do: 'create'; name: string; owner: string | null; blocks: boolean }
  | { do: 'delete'; name: string; how: 'Background' | 'Orphan' }
  | { do: 'account' | 'token' | 'drop account'; name: string };

function perform(api: LocalApi, act: Act): void {
  const key = { namespace: 'storm', name: act.name };
  if (act.do === 'create') {
    const owner = act.owner === null ? undefined : api.get(configMaps, { namespace: 'storm', name: act.owner });
    const { name = '', uid = '' } = owner?.metadata ?? {};
    const reference: OwnerReference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid,
      blockOwnerDeletion: act.blocks,
    };
    api.create(configMaps, { metadata: { ...key, ...(owner === undefined ? {} : { ownerReferences: [reference] }) } });
  } else if (act.do === 'delete') api.delete(configMaps, key, { propagationPolicy: act.how });
  else if (act.do === 'account') api.create(serviceAccounts, { metadata: key });
  else if (act.do === 'drop account') api.delete(serviceAccounts, key);
  else {
    const annotations = { 'kubernetes.io/service-account.name': act.name };
    api.create(secrets, { metadata: { ...key, annotations }, type: 'kubernetes.io/service-account-token' } as never);
  }
}

/** What is there already, or not there any more, is refused; that is no matter here. */
function tolerate(run: () => void): void {
  try {
    run();
  } catch (error) {
    expect((error as { status?: { code: number } }).status?.code).toSatisfy((code: number) =>
      [404, 409].includes(code),
    );
  }
}

function checkAtRest(api: LocalApi): void {
  const maps = api.list(configMaps, 'storm');
  const uids = new Set(maps.map(({ metadata }) => metadata.uid));
  for (const { metadata } of maps) {
    expect(metadata.deletionTimestamp).toBeUndefined();
    for (const owner of metadata.ownerReferences ?? []) expect(uids).toContain(owner.uid);
  }
  const accounts = new Set(api.list(serviceAccounts, 'storm').map(({ metadata }) => metadata.uid));
  for (const secret of api.list(secrets, 'storm')) {
    expect(accounts).toContain(secret.metadata.annotations?.['kubernetes.io/service-account.uid']);
    expect(Object.keys(secret['data'] as object).toSorted()).toEqual(['ca.crt', 'namespace', 'token']);
  }
}
