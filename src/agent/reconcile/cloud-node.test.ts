import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { reconcileHost } from './reconcile-host.ts';

const kubelet = service({ name: 'kubelet', command: 'kubelet.exe', bootstrap: true });
const cloudNodeManager = service({
  name: 'cloud-node-manager',
  command: `c.exe --kubeconfig=${file.cloudNodeKubeconfig}`,
  priority: 2,
});
const runs = async (host: ModelHost) =>
  (await host.services.list()).filter(({ state }) => state === 'running').map(({ config }) => config.command);

test('starts cloud-node-manager when its certificate is there, and waits with the version until then', async () => {
  const host = new ModelHost();
  host.node = { name: 'win-1', annotations: { [nodeAnnotation.desiredVersion]: 'v2' }, ready: true };
  const services = [kubelet, cloudNodeManager];
  const data = printManifest({ services, files: [], environment: {}, watchedEnvironment: [] });
  host.configMaps = [{ name: 'windows-services-v2', created: '', data }];
  const settled: string[] = [];
  const onServicesSettled = async ({ version }: { version: string }) => void settled.push(version);
  const options = { caBundle: '', readyPatience: { everyMs: 1000, limitMs: 5000 }, onServicesSettled };
  const pass = () => reconcileHost(host, options, host.waiting());
  expect(await pass()).toEqual({ did: 'wait', for: 'a client certificate for cloud-node-manager' });
  expect([await runs(host), host.report.version, settled]).toEqual([['kubelet.exe'], '', []]);
  host.fileTexts.set(file.cloudNodeCertificate, 'certificate and key');
  expect(await pass()).toEqual({ did: 'configure', version: 'v2' });
  expect([await runs(host), settled]).toEqual([['kubelet.exe', cloudNodeManager.command], ['v2']]);
});
