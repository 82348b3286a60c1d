import { expect, test } from 'vitest';
import { managedDescription } from '#contract/names.ts';
import type { HostVariableSource } from '#contract/services/manifest.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { findNodeName } from './node-name.ts';

const never = new AbortController().signal;

interface Host {
  computer?: string;
  kubelet?: string;
  isOurs?: boolean;
  source?: HostVariableSource;
}

/** Whatever is asked of the cloud or of the host is noted. */
function find({ computer = 'WIN-1', kubelet, isOurs = true, source }: Host) {
  const host = new ModelHost();
  const asked: string[] = [];
  host.state.hostName = computer;
  host.host.resolve = async each => {
    asked.push(each);
    return 'Ip-10-0-0-5.EC2.internal';
  };
  const description = isOurs ? managedDescription('kubelet') : 'mine';
  if (kubelet !== undefined) host.services.install('Kubelet', { command: kubelet, description });
  return { asked, name: findNodeName(host, source, never) };
}

const cases: [name: string, host: Host, want: string, asked?: string[]][] = [
  ['the computer name of a host that is not configured', {}, 'win-1'],
  [
    'what the kubelet will be told there',
    { source: 'awsLocalHostname' },
    'ip-10-0-0-5.ec2.internal',
    ['awsLocalHostname'],
  ],
  [
    'what the installed kubelet was told, without a question to the cloud',
    { source: 'awsLocalHostname', kubelet: 'k.exe --v=2 --hostname-override=Win-7.EC2.internal --node-ip=10.0.0.5' },
    'win-7.ec2.internal',
  ],
  ['a name in quotes', { kubelet: 'k.exe "--x" --hostname-override="win-7"' }, 'win-7'],
  ['the computer name where the installed kubelet was told none', { kubelet: 'k.exe', source: 'fqdn' }, 'win-1'],
  ['no name of a flag that only ends like it', { kubelet: 'k.exe --no--hostname-override=evil' }, 'win-1'],
  ['nothing of a kubelet that is not ours', { kubelet: 'k.exe --hostname-override=other', isOurs: false }, 'win-1'],
];
for (const [name, host, want, asked = []] of cases) {
  test(`finds ${name}`, async () => {
    const found = find(host);
    expect([await found.name, found.asked]).toEqual([want, asked]);
  });
}

const bad: [name: string, host: Host][] = [
  ['a computer name that no Node may have', { computer: 'WIN_1' }],
  ['a command that was tampered with', { kubelet: 'k.exe --hostname-override=a&b' }],
];
for (const [name, host] of bad) {
  test(`rejects ${name}`, async () => {
    expect(await rejectionOf(find(host).name)).toMatchObject({ code: 'HOST_NAME_INVALID' });
  });
}
