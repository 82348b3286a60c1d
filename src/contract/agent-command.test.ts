import { expect, test } from 'vitest';
import {
  agentQuery,
  agentRecovery,
  bootstrapCommand,
  cleanupCommand,
  controllerCommand,
  installCommand,
  inventoryCommand,
} from './agent-command.ts';

const namespace = 'openshift-windows-machine-config-operator';
const agent = String.raw`C:\k\windows-instance-config-daemon.exe`;
const controller =
  `${agent} controller --windows-service --log-dir C:\\var\\log\\wicd --namespace ${namespace} ` +
  String.raw`--kubeconfig C:\k\wicd-kubeconfig --cert-dir C:\k\wicd-certs --cert-duration 1h --ca-bundle C:\k\ca-bundle.crt`;

const commands: [string, string, string][] = [
  [
    'cleans up',
    cleanupCommand(namespace),
    `${agent} cleanup --kubeconfig C:\\k\\wicd-kubeconfig --namespace ${namespace}`,
  ],
  [
    'cleans up before the next configuration',
    cleanupCommand(namespace, 'keep settings'),
    `${agent} cleanup --kubeconfig C:\\k\\wicd-kubeconfig --namespace ${namespace} --keep-settings`,
  ],
  ['installs', installCommand('ns'), `${agent} install --namespace ns -o json`],
  ['installs with a size', installCommand('ns', 105), `${agent} install --namespace ns --service-log-size 105 -o json`],
  [
    'bootstraps',
    bootstrapCommand('11.0.0-1b759bf', namespace),
    `${agent} bootstrap --desired-version 11.0.0-1b759bf --kubeconfig C:\\k\\wicd-kubeconfig --namespace ${namespace}`,
  ],
  ['runs as a service', controllerCommand(namespace), controller],
  ['runs with a size for logs', controllerCommand(namespace, 105), `${controller} --log-file-max-size 105`],
  ['runs with logs of any size', controllerCommand(namespace, 0), `${controller} --log-file-max-size 0`],
  [
    'runs with the largest size for logs',
    controllerCommand(namespace, 1_000_000_000_000),
    `${controller} --log-file-max-size 1000000000000`,
  ],
];
for (const [name, got, want] of commands) test(`${name} with exactly this command`, () => expect(got).toBe(want));

const servers: [url: string, probed: boolean][] = [
  ['https://api-int.cluster.example.com:6443', true],
  ['https://10.0.0.1:6443/', true],
  ['https://[fd00::1]:6443', true],
  ['http://api:6443', false],
  ['https://api:6443&calc', false],
  ['https://api:6443 -o text', false],
  ['https://$(calc)', false],
  ['https://%PATH%', false],
  ['', false],
];
for (const [url, probed] of servers) {
  test(`asks ${probed ? 'for' : 'nothing about'} the API server ${JSON.stringify(url)}`, () => {
    const want = probed ? `${agent} inventory --probe ${url} -o json` : agentQuery.inventory;
    expect(inventoryCommand(url)).toBe(want);
  });
}

test('no command needs quoting in cmd.exe or PowerShell', () => {
  for (const [, command] of commands) expect(command).toMatch(/^[A-Za-z0-9:\\._ -]+$/);
});

test('Windows restarts the agent after seconds, not milliseconds', () => {
  expect(agentRecovery).toEqual({ resetSeconds: 300, restartDelaysMs: [10_000, 30_000, 60_000, 120_000] });
});
