import { expect, test } from 'vitest';
import { dir, file } from '#contract/paths.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client, Patch } from '#kube/client.ts';
import { address, type JoinLab, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

/** What is recorded whenever something comes to the host, or is asked of it. */
function observe(lab: JoinLab, host: LabHost, name?: string): { what: string; status: WindowsInstanceStatus }[] {
  const seen: { what: string; status: WindowsInstanceStatus }[] = [];
  const note = async (what: string) => {
    seen.push({ what, status: (await lab.instance(name)).status ?? {} });
  };
  host.faults.exec = async command => {
    await note(command.split(' ')[1] ?? '');
    return undefined;
  };
  host.faults.upload = path => note(path.startsWith(dir.incoming) ? 'bundle' : 'agent');
  return seen;
}

test('name, addresses and token ids are recorded before the first file with a token comes to the host', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const seen = observe(lab, host);
  lab.start();
  await lab.add();
  await lab.ready();
  expect(seen.map(({ what }) => what)).toEqual([
    'agent',
    'inventory',
    'secure',
    'bundle',
    'stage',
    'bundle',
    'stage',
    'bootstrap',
    'install',
  ]);
  for (const { what, status } of seen) {
    const isBefore = ['inventory', 'agent', 'secure'].includes(what);
    expect(status.host).toEqual(isBefore ? undefined : { name: 'win-5', addresses: [address] });
    expect(status.tokens?.map(({ id, use }) => [id, use])).toEqual(
      isBefore
        ? undefined
        : [
            ['JTI=kubelet-1', 'kubelet'],
            ['JTI=agent-1', 'agent'],
          ],
    );
    expect(status.agent).toBeUndefined();
  }
  expect(host.model.fileTexts.get(file.bootstrapKubeconfig)).toBe('token number 1');
  expect((await lab.instance()).status?.agent?.keyHash).toMatch(/^[0-9a-f]{64}$/);
});

test('no file with a token comes to a host while its id cannot be recorded', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  let refusals = 0;
  let isRefused = true;
  const client = refusing(lab.client, body => {
    if (!isRefused || !JSON.stringify(body).includes('JTI=')) return;
    refusals += 1;
    throw new ApiError({ code: 503, reason: 'ServiceUnavailable', message: 'down' }, 'PATCH /x');
  });
  lab.start({ client });
  await lab.add();
  await until(() => refusals > 5);
  expect(host.uploads.filter(path => path.startsWith(dir.incoming))).toEqual([]);
  expect(host.verbs().filter(verb => !['inventory', 'secure'].includes(verb))).toEqual([]);
  isRefused = false;
  await lab.ready();
});

function refusing(client: Client, check: (body: unknown) => void): Client {
  return new Proxy(client, {
    get: (target, verb) => {
      const member: unknown = Reflect.get(target, verb);
      if (typeof member !== 'function') return member;
      const call = (...args: unknown[]): unknown => (member as (...given: unknown[]) => unknown).apply(target, args);
      if (verb !== 'patch') return call;
      return async (...args: unknown[]) => {
        check((args[2] as Patch).body);
        return call(...args);
      };
    },
  });
}

test('ids of earlier attempts stay as long as their tokens live', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  let left = 2;
  host.faults.exec = command =>
    command.includes(' bootstrap ') && left-- > 0 ? { exitCode: 1, stdout: '', stderr: '' } : undefined;
  lab.start();
  await lab.add();
  const { tokens = [] } = await lab.ready();
  expect(tokens.map(({ id }) => id)).toEqual(
    [1, 2, 3].flatMap(number => [`JTI=kubelet-${number}`, `JTI=agent-${number}`]),
  );
});

test('clones of one template are recorded under the names they are given, read after the reboot', async () => {
  const lab = await startJoinLab();
  const names = ['worker-1', 'worker-2'];
  const all = names.map((hostname, index) => {
    const at = `10.0.0.${20 + index}`;
    const host = lab.host(at);
    host.model.state.hostName = 'TEMPLATE';
    return { at, host, hostname, seen: observe(lab, host, hostname) };
  });
  lab.start();
  for (const { at, hostname } of all) {
    await lab.add({ address: at, hostname, source: { kind: 'ConfigMap', name: at } }, hostname);
  }
  for (const { at, host, hostname, seen } of all) {
    expect(await lab.ready(hostname)).toMatchObject({ node: hostname, host: { name: hostname, addresses: [at] } });
    const reboot = seen.findIndex(({ what }) => what === 'reboot');
    expect(seen.slice(0, reboot + 1).some(({ status }) => status.host !== undefined)).toBe(false);
    expect(host.commands.find(command => command.includes(' bootstrap '))).toContain(` --node ${hostname}`);
  }
});

test('a host that comes up under the name of another is refused before it gets a token', async () => {
  const lab = await startJoinLab();
  lab.host();
  const host = lab.host('10.0.0.6');
  host.model.state.containersFeature = 'disabled';
  const boot = host.model.boot;
  host.model.boot = () => {
    boot();
    host.model.state.hostName = 'win-5';
  };
  lab.start();
  await lab.add();
  await lab.ready();
  await lab.add({ address: '10.0.0.6', source: { kind: 'ConfigMap', name: '10.0.0.6' } }, 'other');
  const message = await lab.failed('NODE_NAME_TAKEN', 'other');
  expect(message).toContain('the host name win-5 is already the Node of win-5');
  expect(host.verbs()).not.toContain('stage');
  expect((await lab.instance('other')).status?.tokens).toBeUndefined();
});
