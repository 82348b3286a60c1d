import { expect, test } from 'vitest';
import { readConditions } from '#contract/operator-status.ts';
import type { Resource } from '#kube/resource.ts';
import { configMaps } from '#kube/resources.ts';
import { fixedFacts } from '../../test/kit/fixed-facts.ts';
import {
  apiServer,
  type ClusterParts,
  hybridOverlay,
  infrastructure,
  networkConfig,
  networkOperator,
  openshiftCluster,
  readObjects,
} from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { manualClock } from '../../test/kit/manual-clock.ts';
import { recordedLog } from '../../test/kit/recorded-log.ts';
import { WatchedApi } from '../../test/kit/watched-api.ts';
import { defaultSettings } from './settings.ts';
import { checkServer, suitability } from './suitability.ts';

const settings = defaultSettings({ namespace: 'wmco', version: 'v' });
const server = (serverVersion: string, serves: (resource: Resource) => boolean = () => true) =>
  checkServer({ kind: 'openshift', serverVersion, serves }, settings);

const versions: [version: string, fits: boolean][] = [
  ['v1.36.0', true],
  ['v1.36.4+abc', true],
  ['v1.39.0', true],
  ['v1.40.0', false],
  ['v1.35.9', false],
  ['v1.20.2', false],
  ['', false],
];
for (const [version, fits] of versions) {
  test(`OP-02: an API server of version ${JSON.stringify(version)} ${fits ? 'fits' : 'does not fit'} the kubelet of the payload`, () => {
    expect(errorOf(() => server(version))?.code).toBe(fits ? undefined : 'SERVER_VERSION_UNSUPPORTED');
  });
}

test('another kubelet goes with other API servers', () => {
  const other = { ...settings, kubeletVersion: 'v1.20.2' };
  const given = { kind: 'kubernetes' as const, serverVersion: 'v1.20.2', serves: () => true };
  expect(errorOf(() => checkServer(given, other))).toBeUndefined();
});

test('reports a missing CRD and names its manifest', () => {
  expect(errorOf(() => server('v1.36.0', ({ plural }) => plural !== 'windowsinstances'))).toMatchObject({
    code: 'CLUSTER_UNSUITABLE',
    message: expect.stringContaining('windowsinstances'),
    remedy: expect.stringContaining('deploy/crd'),
  });
});

/** Runs the checks on a cluster; gives the failure, and what was logged. */
async function check(objects: Partial<ClusterParts> = {}, kind: 'openshift' | 'kubernetes' = 'openshift') {
  const recorded = recordedLog();
  const facts = fixedFacts({}, readObjects(openshiftCluster(objects)));
  const stop = new AbortController();
  let isReady = false;
  const api = new WatchedApi(manualClock());
  const parts = { kind, facts, settings, client: api.client, clock: manualClock(), log: recorded.log };
  const run = suitability(parts).run(stop.signal, () => {
    isReady = true;
    stop.abort();
  });
  const failure = await run.then(
    () => undefined,
    (error: unknown) => error as { code: string },
  );
  const { data } = api.peek(configMaps, 'windows-machine-config-operator-status', 'wmco') ?? {};
  return { failure, isReady, log: recorded, conditions: readConditions(data) };
}

test('a healthy cluster is fine, and its platform is reported', async () => {
  const { failure, isReady, log } = await check();
  expect([failure, isReady]).toEqual([undefined, true]);
  expect(log.lines).toMatchObject([{ message: 'platform', fields: { type: 'None' } }]);
});

const unsuitable: [name: string, parts: Partial<ClusterParts>, code: string][] = [
  [
    'another network type',
    { networkConfig: networkConfig({ networkType: 'OpenShiftSDN' }) },
    'NETWORK_TYPE_UNSUPPORTED',
  ],
  ['no hybrid overlay', { networkOperator: networkOperator(null) }, 'NETWORK_HYBRID_OVERLAY_MISSING'],
  [
    'an empty hybrid overlay',
    { networkOperator: networkOperator(hybridOverlay({ hybridClusterNetwork: [] })) },
    'NETWORK_HYBRID_OVERLAY_INVALID',
  ],
  ['no service network', { networkConfig: networkConfig({ serviceNetwork: [] }) }, 'NETWORK_SERVICE_CIDR_INVALID'],
  ['no platform', { infrastructure: infrastructure('', { platformStatus: {} }) }, 'PLATFORM_MISSING'],
  ['no APIServer', { apiServer: null }, 'OBJECT_MISSING'],
  ['a broken TLS profile', { apiServer: apiServer({ tlsSecurityProfile: { type: 'Custom' } }) }, 'TLS_PROFILE_INVALID'],
];
for (const [name, parts, code] of unsuitable) {
  test(`OP-02: a cluster with ${name} ends the operator`, async () => {
    const { failure, isReady, log, conditions } = await check(parts);
    expect(failure?.code).toBe(code);
    expect(conditions).toMatchObject([{ type: 'ClusterSuitable', status: 'False', reason: code }]);
    expect(isReady).toBe(false);
    expect(log.messages('error')).toContain('failed to validate required cluster configuration');
  });
}

test('reports all that is wrong before it ends', async () => {
  const { log } = await check({
    networkConfig: networkConfig({ networkType: 'x' }),
    networkOperator: networkOperator(null),
    apiServer: null,
  });
  expect(log.messages('error')).toHaveLength(3);
});

const later: [name: string, parts: Partial<ClusterParts>][] = [
  ['a worker config', { machineConfig: null }],
  ['a ControllerConfig', { controllerConfig: null }],
  ['a Node', { node: null }],
  ['an internal address of the API server', { infrastructure: infrastructure('AWS', { apiServerInternalURI: '' }) }],
];
for (const [name, parts] of later) {
  test(`a cluster without ${name} is waited for`, async () => expect((await check(parts)).isReady).toBe(true));
}

test('a plain cluster is not asked for what only OpenShift has', async () => {
  const { isReady } = await check({ apiServer: null, networkOperator: null }, 'kubernetes');
  expect(isReady).toBe(true);
});
