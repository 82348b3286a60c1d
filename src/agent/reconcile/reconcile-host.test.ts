import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printPem } from '#base/pem.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { emptyReport } from '#contract/agent-report.ts';
import { file } from '#contract/paths.ts';
import { service, type ServicesManifest } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { readState } from '../state.ts';
import { type PassOutcome, reconcileHost } from './reconcile-host.ts';

const { desiredVersion, version, rebootRequired } = nodeAnnotation;
const kubelet = service({ name: 'kubelet', command: 'kubelet.exe', bootstrap: true });
const overlay = service({
  name: 'overlay',
  command: 'overlay.exe NODE_NAME',
  nodeVariables: [{ name: 'NODE_NAME', jsonPath: '{.metadata.name}' }],
  dependencies: ['kubelet'],
  priority: 1,
});
const proxy = { HTTP_PROXY: 'http://proxy' };
const pem = (byte: number) => printPem('CERTIFICATE', Uint8Array.of(0x30, 9, 0x30, 3, 0x02, 1, byte, 0x30, 0, 0x03, 0));

function hostFor(over: Partial<ServicesManifest> = {}): ModelHost {
  const host = new ModelHost();
  host.node = { name: 'win-1', annotations: { [desiredVersion]: 'v2' }, ready: true };
  publish(host, over);
  return host;
}

function publish(host: ModelHost, over: Partial<ServicesManifest>): void {
  const manifest = {
    services: [kubelet, overlay],
    files: [],
    environment: {},
    watchedEnvironment: ['HTTP_PROXY'],
    ...over,
  };
  host.configMaps = [{ name: 'windows-services-v2', created: '2026-01-01T00:00:00Z', data: printManifest(manifest) }];
}

const options = { caBundle: '', readyPatience: { everyMs: 1000, limitMs: 5000 } };
const pass = (host: ModelHost, over: object = {}): Promise<PassOutcome> =>
  reconcileHost(host, { ...options, ...over }, host.waiting());
const withBundle = (host: ModelHost, text: string) => {
  host.fileTexts.set(file.caBundle, text);
  return { caBundle: file.caBundle };
};
const runs = async (host: ModelHost) =>
  (await host.services.list()).filter(({ state }) => state === 'running').map(({ config }) => config.command);
const reports = (host: ModelHost) => host.log.filter(entry => entry.startsWith('report'));
/** What the operator makes of a report. */
function mirror({ node, report }: ModelHost): void {
  if (node === undefined) return;
  delete node.annotations[rebootRequired];
  if (report.rebootRequired) node.annotations[rebootRequired] = '';
  if (report.version !== '') node.annotations[version] = report.version;
}

test('configures a node and reports the version last, without a word to the Node', async () => {
  const host = hostFor();
  expect(await pass(host)).toEqual({ did: 'configure', version: 'v2' });
  expect(await runs(host)).toEqual(['kubelet.exe', 'overlay.exe win-1']);
  expect(host.report).toEqual({ ...emptyReport, version: 'v2', bootId: host.bootId, confirmedBoot: host.bootId });
  expect(host.log.at(-1)).toBe('report version=v2');
  expect(host.node?.annotations).toEqual({ [desiredVersion]: 'v2' });
});

test('writes nothing in a second pass', async () => {
  const host = hostFor();
  await pass(host);
  const [log, calls] = [host.log.length, host.services.calls.length];
  expect(await pass(host)).toEqual({ did: 'configure', version: 'v2' });
  expect([host.log.length, host.services.calls.length]).toEqual([log, calls]);
});

const idle: [name: string, change: (host: ModelHost) => void, why: string][] = [
  ['there is no Node', host => (host.node = undefined), 'the Node does not exist'],
  ['no version is desired', host => delete host.node?.annotations[desiredVersion], 'Node win-1 has no desired version'],
];
for (const [name, change, why] of idle) {
  test(`touches nothing when ${name}`, async () => {
    const host = hostFor({ environment: proxy });
    change(host);
    expect(await pass(host)).toEqual({ did: 'skip', why });
    expect([host.log, host.services.calls]).toEqual([[], []]);
  });
}

test('needs the ConfigMap of the desired version', async () => {
  const host = hostFor();
  host.configMaps = [{ name: 'windows-services-v1', created: '', data: {} }];
  const error = await rejectionOf(pass(host));
  expect(error).toMatchObject({ code: 'OBJECT_MISSING', message: 'ConfigMap "windows-services-v2" does not exist' });
});

test('rejects a ConfigMap that cannot be parsed, by its name', async () => {
  const host = hostFor();
  host.configMaps = [{ name: 'windows-services-v2', created: '', data: { services: '[]' } }];
  const error = await rejectionOf(pass(host));
  expect(error).toMatchObject({ code: 'SERVICES_MALFORMED', message: expect.stringContaining('windows-services-v2') });
});

const environments = async (host: ModelHost) =>
  Object.fromEntries((await host.services.list()).map(({ name, config }) => [name, config.environment]));
const everywhere = (variables: object) => ({ kubelet: variables, overlay: variables });

test('sets variables of the machine and of services, without a reboot', async () => {
  const host = hostFor({ environment: proxy });
  const changes: string[] = [];
  const onSettings = (list: string[]) => changes.push(...list);
  expect(await pass(host, { onSettings })).toEqual({ did: 'configure', version: 'v2' });
  expect([host.state.variables, changes]).toEqual([proxy, ['machine variables HTTP_PROXY']]);
  expect(await environments(host)).toEqual(everywhere(proxy));
  expect(host.report).toMatchObject({ rebootRequired: false, version: 'v2', variablesBoot: host.bootId });
});

test('restarts services for another value, and once only', async () => {
  const host = hostFor({ environment: proxy });
  await pass(host);
  host.services.calls.length = 0;
  publish(host, { environment: { HTTP_PROXY: 'http://other' } });
  for (const _ of [1, 2]) await pass(host);
  expect(host.services.calls).toEqual([
    'stop overlay',
    'stop kubelet',
    'configure kubelet',
    'start kubelet',
    'configure overlay',
    'start overlay',
  ]);
  expect(await environments(host)).toEqual(everywhere({ HTTP_PROXY: 'http://other' }));
});

test('empties a variable that Windows still gives to services, until a reboot', async () => {
  const host = hostFor({ environment: proxy });
  await pass(host);
  await host.reboot();
  await pass(host);
  publish(host, {});
  await pass(host);
  expect([host.state.variables, await environments(host)]).toEqual([{}, everywhere({ HTTP_PROXY: '' })]);
  await host.reboot();
  host.services.calls.length = 0;
  await pass(host);
  expect(host.services.calls.filter(call => call.startsWith('stop'))).toEqual([]);
  expect(await environments(host)).toEqual(everywhere({}));
});

test('reports until the next boot that variables were changed', async () => {
  const host = hostFor({ environment: proxy });
  const seen: string[] = [];
  for (const act of [() => undefined, () => undefined, () => host.reboot()]) {
    await act();
    await pass(host);
    seen.push(host.report.variablesBoot);
  }
  expect(seen).toEqual([seen[0], seen[0], '']);
  expect(seen[0]).not.toBe('');
});

test('reports changed variables later when the first report fails', async () => {
  const host = hostFor({ environment: proxy });
  host.before = call => {
    if (call.startsWith('report')) throw new Error('the API server is away');
  };
  await expect(pass(host)).rejects.toThrow('the API server is away');
  expect(await environments(host)).toEqual(everywhere(proxy));
  host.before = () => undefined;
  await pass(host);
  expect(host.report.variablesBoot).toBe(host.bootId);
});

test('takes back that an earlier agent required a reboot, and goes on while the Node waits for one', async () => {
  const host = hostFor();
  host.report = { ...emptyReport, rebootRequired: true };
  mirror(host);
  expect(await pass(host)).toEqual({ did: 'configure', version: 'v2' });
  expect(reports(host)).toEqual(['report rebootRequired=false', 'report version=v2']);
});

test('imports certificates of a bundle, which restarts nothing', async () => {
  const host = hostFor();
  await pass(host);
  host.services.calls.length = 0;
  expect(await pass(host, withBundle(host, pem(1)))).toEqual({ did: 'configure', version: 'v2' });
  expect([host.roots.length, host.fileTexts.get(file.importedCerts)]).toEqual([1, pem(1)]);
  expect([host.services.calls, host.report.variablesBoot]).toEqual([[], '']);
});

test('reverts settings again that a power cut brought back, and then finishes', async () => {
  const host = hostFor({ environment: proxy });
  withBundle(host, pem(1));
  host.fileTexts.set('C:\\k\\wicd-state.json', '{"environment": []}');
  await live(host, []);
  const [machine, store] = [{ ...host.state.variables }, [...host.roots]];
  publish(host, {});
  withBundle(host, '');
  for (const _ of [1, 2]) await pass(host, { caBundle: file.caBundle });
  expect([host.state.variables, host.roots]).toEqual([{}, []]);
  Object.assign(host.state.variables, machine);
  host.addRoots(...store);
  await host.reboot();
  expect((await live(host, []))?.did).toBe('configure');
  expect([host.state.variables, host.roots]).toEqual([{}, []]);
  await host.reboot();
  await live(host, []);
  expect((await readState(host.files)).takenBack).toBeUndefined();
});

const badBundles: [name: string, text: string | undefined, code: string][] = [
  ['is damaged', pem(1).slice(0, 40), 'CERTIFICATE_BUNDLE_MALFORMED'],
  ['is missing', undefined, 'INPUT_UNREADABLE'],
];
for (const [name, text, code] of badBundles) {
  test(`runs the services when the bundle ${name}, but does not report the version`, async () => {
    const host = hostFor();
    if (text !== undefined) withBundle(host, text);
    expect(await rejectionOf(pass(host, { caBundle: file.caBundle }))).toMatchObject({ code });
    expect(await runs(host)).toHaveLength(2);
    expect(host.report.version).toBe('');
  });

  test(`changes variables when the bundle ${name}, and reports the bundle`, async () => {
    const host = hostFor({ environment: proxy });
    if (text !== undefined) withBundle(host, text);
    expect(await rejectionOf(pass(host, { caBundle: file.caBundle }))).toMatchObject({ code });
    expect([host.state.variables, await environments(host)]).toEqual([proxy, everywhere(proxy)]);
  });
}

test('removes no certificate because of a damaged bundle', async () => {
  const host = hostFor();
  await pass(host, withBundle(host, pem(1) + pem(2)));
  expect(await rejectionOf(pass(host, withBundle(host, pem(1) + pem(2).slice(0, 30))))).toMatchObject({
    code: 'CERTIFICATE_BUNDLE_MALFORMED',
  });
  expect(host.roots).toHaveLength(2);
});

test('gives services the wanted value, whatever the SYSTEM account has', async () => {
  const host = hostFor({ environment: proxy });
  host.state.variablesAtBoot = { HTTP_PROXY: 'of the SYSTEM account' };
  expect(await pass(host)).toEqual({ did: 'configure', version: 'v2' });
  expect(await environments(host)).toEqual(everywhere(proxy));
});

test('does not report the version when a service fails', async () => {
  const host = hostFor();
  host.services.before = call => {
    if (call === 'start overlay') throw new Error('1053');
  };
  expect(await rejectionOf(pass(host))).toMatchObject({ code: 'SERVICES_INCOMPLETE' });
  expect(host.report.version).toBe('');
});

test('waits for the Node to become ready', async () => {
  const host = hostFor();
  host.node = { ...host.node, name: 'win-1', annotations: { [desiredVersion]: 'v2' }, ready: false };
  const { sleep } = host.clock;
  host.clock.sleep = async ms => {
    await sleep(ms);
    if (host.clock.ms >= 3000 && host.node !== undefined) host.node.ready = true;
  };
  expect(await pass(host)).toEqual({ did: 'configure', version: 'v2' });
});

test('does not report the version of a Node that does not become ready', async () => {
  const host = hostFor();
  host.node = { name: 'win-1', annotations: { [desiredVersion]: 'v2' }, ready: false };
  const error = await rejectionOf(pass(host));
  expect(error).toMatchObject({ code: 'NODE_NOT_READY', message: expect.stringContaining('within 5 s') });
  expect(error?.remedy).toContain('kubelet');
  expect(reports(host)).toEqual([]);
});

test('does not report the version when another one is desired meanwhile', async () => {
  const host = hostFor();
  host.services.before = call => {
    if (call === 'start overlay' && host.node !== undefined) host.node.annotations = { [desiredVersion]: 'v3' };
  };
  await pass(host);
  expect(host.report.version).toBe('');
});

test('restores the value of the administrator when the cluster proxy is removed', async () => {
  const host = hostFor();
  host.state.variables = { HTTP_PROXY: 'of the administrator' };
  host.state.variablesAtBoot = { ...host.state.variables };
  host.fileTexts.set('C:\\k\\wicd-state.json', '{"environment": []}');
  await pass(host);
  for (const environment of [proxy, {}]) {
    publish(host, { environment });
    expect(await pass(host)).toMatchObject({ did: 'configure' });
  }
  expect(host.state.variables).toEqual({ HTTP_PROXY: 'of the administrator' });
  expect(await environments(host)).toEqual(everywhere({}));
});

test('leaves services alone when the administrator changes their own proxy', async () => {
  const host = hostFor();
  host.fileTexts.set('C:\\k\\wicd-state.json', '{"environment": []}');
  host.state.variables = { HTTP_PROXY: 'new' };
  host.state.variablesAtBoot = { HTTP_PROXY: 'old' };
  expect(await pass(host)).toMatchObject({ did: 'configure' });
  expect(await environments(host)).toEqual(everywhere({}));
});

test('never shows values of variables', async () => {
  const host = hostFor({ environment: { HTTP_PROXY: 'http://user:hunter2@proxy' } });
  const changes: unknown[] = [];
  const outcome = await pass(host, { onSettings: (list: unknown) => changes.push(list) });
  expect(JSON.stringify([outcome, changes, host.log, host.node, host.report])).not.toContain('hunter2');
});

/** The whole story of a host: passes are killed at any point, until nothing is left to do. */
async function live(host: ModelHost, kills: readonly number[]): Promise<PassOutcome | undefined> {
  let outcome: PassOutcome | undefined;
  for (const kill of [...kills, 999, 999]) {
    let left = kill;
    host.before = host.services.before = () => {
      left -= 1;
      if (left < 0) throw new Error('killed');
    };
    outcome = await pass(host, { caBundle: file.caBundle }).catch(() => undefined);
    mirror(host);
  }
  return outcome;
}

test('reaches the same state when it is killed at any point', async () => {
  const kills = fc.array(fc.nat(20), { maxLength: 3 });
  const target = fc.record({ kills, hasProxy: fc.boolean(), hasCa: fc.boolean(), boots: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(target, { minLength: 1, maxLength: 3 }), async targets => {
      const host = hostFor();
      host.fileTexts.set('C:\\k\\wicd-state.json', '{"environment": []}');
      host.services.install('kubelet', { environment: { OWN: 'stays' } });
      for (const { kills: points, hasProxy, hasCa, boots } of targets) {
        publish(host, { environment: hasProxy ? proxy : {} });
        withBundle(host, hasCa ? pem(1) : '');
        expect(await live(host, points)).toEqual({ did: 'configure', version: 'v2' });
        if (boots) await host.reboot();
        if (boots) await live(host, []);
        expect(host.state.variables).toEqual(hasProxy ? proxy : {});
        expect(host.roots).toHaveLength(hasCa ? 1 : 0);
        expect(await runs(host)).toEqual(['kubelet.exe', 'overlay.exe win-1']);
        const { kubelet: own, overlay: other } = await environments(host);
        const isGone = !hasProxy && (other?.['HTTP_PROXY'] ?? '') === '';
        expect(hasProxy ? other : isGone).toEqual(hasProxy ? proxy : true);
        expect(own).toEqual({ OWN: 'stays', ...other });
        expect(host.node?.annotations).toEqual({ [desiredVersion]: 'v2', [version]: 'v2' });
      }
    }),
    { numRuns: 200 },
  );
});

test('reports the version again when the operator has emptied the report', async () => {
  const host = hostFor();
  await pass(host);
  host.report = emptyReport;
  await pass(host);
  expect(host.report.version).toBe('v2');
});

test('reconciles services while the report cannot be written, and then fails', async () => {
  const host = hostFor();
  host.cluster.readReport = () => Promise.reject(new Error('503'));
  await expect(pass(host)).rejects.toThrow('503');
  expect(await runs(host)).toHaveLength(2);
});
