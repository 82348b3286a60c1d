import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordEvent } from '../../src/cluster/instance-events.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { windowsInstanceCrd } from '../../src/contract/windows-instance/crd.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { EventRecorder } from '../../src/kube/events/events.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { findKubectls, kubectl, type KubectlServer, startKubectlServer } from '../kit/kubectl.ts';

/** What an administrator sees of WindowsInstances with kubectl. */

let folder: string;
let target: KubectlServer;

const instance = (name: string, spec: object) => ({
  apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
  kind: 'WindowsInstance',
  metadata: { name },
  spec,
});

beforeAll(async () => {
  target = await startKubectlServer();
  ({ folder } = target);
  await writeFile(join(folder, 'crd.json'), JSON.stringify(windowsInstanceCrd()));
  const valid = instance('win1', { address: 'win1.example.com', username: 'Administrator' });
  await writeFile(join(folder, 'valid.json'), JSON.stringify(valid));
  await writeFile(join(folder, 'no-user.json'), JSON.stringify(instance('win2', { address: 'win2.example.com' })));
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
});

/** Found in what `kubectl explain` prints, whose lines are wrapped differently by each version. */
const explained: [path: string, words: RegExp][] = [
  ['windowsinstances', /WindowsInstance is a Windows Server host/],
  ['windowsinstances.spec', /username <string> -required-/],
  ['windowsinstances.spec.username', /Windows user with administrator rights/],
  ['windowsinstances.spec.taints', /in addition to os=Windows:NoSchedule/],
  ['windowsinstances.spec.taints.effect', /NoExecute also evicts running pods/],
  ['windowsinstances.status', /Only the operator writes it/],
  ['windowsinstances.status.conditions.type', /KubeletReachable: the operator reaches the kubelet/],
];

for (const binary of findKubectls()) {
  const run = (...args: string[]) => kubectl(binary, target.kubeconfig, folder)(...args);
  const at = (file: string) => join(folder, file);

  test(`${binary} explains every field, if it reads OpenAPI v3`, async () => {
    // Versions before 1.27 read OpenAPI v2, which the embedded API server does not have.
    if (!(await run('explain', '--help')).text.includes('openapiv2')) return;
    await run('apply', '-f', at('crd.json'));
    await expect.poll(async () => (await run('get', 'wi')).ok).toBe(true);
    for (const [path, words] of explained) {
      const { ok, text } = await run('explain', path);
      expect(ok, text).toBe(true);
      expect(text.replace(/\s+/g, ' '), path).toMatch(words);
    }
  });

  test(`${binary} lists instances by name, short name and category`, async () => {
    await run('apply', '-f', at('crd.json'));
    await expect.poll(async () => (await run('apply', '-f', at('valid.json'))).ok).toBe(true);
    for (const name of ['windowsinstances', 'wi', 'windows']) {
      const { text } = await run('get', name);
      expect(text, name).toMatch(/^NAME +NODE +PHASE +STEP +REASON +AGE\n(windowsinstance\S+\/)?win1 /);
    }
    const wide = await run('get', 'wi', '-o', 'wide');
    expect(wide.text).toMatch(/ADDRESS +SOURCE +USER +IPV4 +KUBELET +JOURNEY +VERSION +NEXT ATTEMPT/);
    expect(wide.text).toMatch(/win1\.example\.com .*Administrator/);
  });

  test(`${binary} describes an instance with its events`, async () => {
    await run('apply', '-f', at('crd.json'));
    await expect.poll(async () => (await run('apply', '-f', at('valid.json'))).ok).toBe(true);
    const client = createClient(loadKubeconfig(await readFile(at('kubeconfig'), 'utf8')));
    const found = await client.get(windowsInstances, 'win1', { namespace: 'default' });
    const recorder = new EventRecorder({ client, component: 'operator' });
    const stop = new AbortController();
    const running = recorder.run(stop.signal, () => undefined);
    recordEvent(recorder, found, { type: 'Warning', reason: 'KubeletUnreachable', message: 'Cannot reach it' });
    await expect
      .poll(async () => (await run('describe', 'wi', 'win1')).text)
      .toMatch(/Events:\n.*\n.*\n +Warning +KubeletUnreachable .*Cannot reach it/);
    stop.abort();
    await running;
    await client.close();
  });

  test(`${binary} is told that an instance needs a user name`, async () => {
    await run('apply', '-f', at('crd.json'));
    await expect
      .poll(async () => (await run('apply', '-f', at('no-user.json'))).text)
      .toMatch(/missing required field "username"|spec\.username: Required value/);
  });
}
