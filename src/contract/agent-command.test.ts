import { expect, test } from 'vitest';
import { writeWire } from '#base/ssh-wire.ts';
import { agentCommands, agentRecovery, checkCommand, controllerCommand } from './agent-command.ts';
import { agentProgram } from './paths.ts';

const namespace = 'openshift-windows-machine-config-operator';
const agent = agentProgram('ab12');
const commands = agentCommands(agent);
const installed = String.raw`C:\k\windows-instance-config-daemon.exe`;
const controller = (duration = '24h', more = '') =>
  `${installed} controller --windows-service --log-dir C:\\var\\log\\wicd --namespace ${namespace} ` +
  `--kubeconfig C:\\k\\wicd-kubeconfig --cert-dir C:\\k\\wicd-certs --cert-duration ${duration} ` +
  `--ca-bundle C:\\k\\ca-bundle.crt --node win-1${more}`;
const service = { namespace, node: 'win-1' };

const keyWord = (number: number) =>
  Buffer.from(writeWire('ssh-ed25519', new Uint8Array(32).fill(number))).toString('base64url');

const lines: [string, string, string][] = [
  [
    'cleans up',
    commands.cleanup(namespace),
    `${agent} cleanup --kubeconfig C:\\k\\wicd-kubeconfig --namespace ${namespace}`,
  ],
  [
    'cleans up before the next configuration',
    commands.cleanup(namespace, 'keep settings'),
    `${agent} cleanup --kubeconfig C:\\k\\wicd-kubeconfig --namespace ${namespace} --keep-settings`,
  ],
  [
    'cleans up before a removal',
    commands.removeServices(namespace),
    `${agent} cleanup --kubeconfig C:\\k\\wicd-kubeconfig --namespace ${namespace} -o json`,
  ],
  [
    'installs',
    commands.install({ namespace: 'ns', node: 'win-1', newKey: false }),
    `${agent} install --namespace ns --node win-1 -o json`,
  ],
  [
    'installs with everything',
    commands.install({
      namespace: 'ns',
      node: 'win-1',
      newKey: true,
      keepCommand: true,
      logMegabytes: 105,
      certificateLifetime: '2h',
      cloudNode: true,
    }),
    `${agent} install --namespace ns --node win-1 --cert-duration 2h --service-log-size 105 --cloud-node --new-key --keep-command -o json`,
  ],
  [
    'bootstraps',
    commands.bootstrap({ version: '11.0.0-1b759bf', namespace, node: 'win-1' }),
    `${agent} bootstrap --desired-version 11.0.0-1b759bf --kubeconfig C:\\k\\wicd-kubeconfig --namespace ${namespace} --node win-1`,
  ],
  ['removes networks', commands.removeNetworks(), `${agent} remove-networks -o json`],
  ['removes files', commands.removeFiles(), `${agent} remove-files -o json`],
  ['secures the host', commands.secure(), `${agent} secure -o json`],
  ['takes an inventory', commands.inventory(), `${agent} inventory -o json`],
  [
    'takes an inventory with the name of the cloud',
    commands.inventory({ nameSource: 'awsLocalHostname' }),
    `${agent} inventory --name-source awsLocalHostname -o json`,
  ],
  ['stages', commands.stage('C:\\k\\b', 'ab'), `${agent} stage --bundle C:\\k\\b --sha256 ab -o json`],
  ['reboots', commands.reboot('b-1'), `${agent} reboot --boot-id b-1 --delay 3s -o json`],
  [
    'exchanges SSH keys',
    commands.authorizeKey({ add: keyWord(1), remove: keyWord(2) }),
    `${agent} authorize-key --add ${keyWord(1)} --remove ${keyWord(2)} -o json`,
  ],
  [
    'removes an SSH key',
    commands.authorizeKey({ remove: keyWord(2) }),
    `${agent} authorize-key --remove ${keyWord(2)} -o json`,
  ],
  ['renames', commands.rename('win-1'), `${agent} rename --name win-1 -o json`],
  ['runs as a service', controllerCommand(service), controller()],
  ['runs with short certificates', controllerCommand({ ...service, certificateLifetime: '10m' }), controller('10m')],
  [
    'runs for cloud-node-manager',
    controllerCommand({ ...service, cloudNode: true }),
    controller('24h', ' --cloud-node'),
  ],
  [
    'runs with a size for logs',
    controllerCommand({ ...service, logMegabytes: 105 }),
    controller('24h', ' --log-file-max-size 105'),
  ],
  [
    'runs with logs of any size',
    controllerCommand({ ...service, logMegabytes: 0 }),
    controller('24h', ' --log-file-max-size 0'),
  ],
];
for (const [name, got, want] of lines) test(`${name} with exactly this command`, () => expect(got).toBe(want));

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
    const want = probed ? `${agent} inventory --probe ${url} -o json` : commands.inventory();
    expect(commands.inventory({ apiServerUrl: url })).toBe(want);
  });
}

test('no command needs quoting in cmd.exe or PowerShell', () => {
  for (const [, command] of lines) {
    expect(command).toMatch(/^[A-Za-z0-9:\\._ -]+$/);
    checkCommand(command);
  }
});

for (const word of [
  'x&net user&y',
  'a b',
  '%PATH%',
  '$(calc)',
  'a|b',
  'a>b',
  '"',
  "'",
  '`',
  ';',
  '^',
  '',
  'a\nb',
  'ä',
]) {
  test(`rejects ${JSON.stringify(word)} as part of a command`, () => {
    expect(() => commands.rename(word)).toThrow(expect.objectContaining({ code: 'COMMAND_WORD_INVALID' }));
    expect(() => commands.reboot(word)).toThrow(expect.objectContaining({ code: 'COMMAND_WORD_INVALID' }));
  });
}

const noKeys: [string, string][] = [
  ['an empty word', ''],
  ['a command', 'x&calc'],
  ['an RSA key of 8192 bits', Buffer.from(writeWire('ssh-rsa', 65_537n, 2n ** 8191n)).toString('base64url')],
];
for (const [name, word] of noKeys) {
  test(`rejects ${name} as an SSH key`, () => {
    for (const change of [{ add: word }, { remove: word }])
      expect(() => commands.authorizeKey(change)).toThrow(expect.objectContaining({ code: 'COMMAND_WORD_INVALID' }));
  });
}

test('Windows restarts the agent after seconds, not milliseconds', () => {
  expect(agentRecovery).toEqual({ resetSeconds: 300, restartDelaysMs: [10_000, 30_000, 60_000, 120_000] });
});
