import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';

let lab: WindowsLab;
let host: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await lab.createHost();
});

afterAll(() => lab?.stop());

const stateOf = async (service: string) => /STATE\s+: \d\s+(\w+)/.exec(await host.run(`sc query ${service}`))?.[1];

const createService = async (service: string, command = `C:\\k\\${service}.exe`) => {
  await host.install('service.exe', `C:\\k\\${service}.exe`);
  await host.run(`sc create ${service} binPath= "${command}"`);
};

const ask = async (call: string) =>
  JSON.parse(await host.run(`hnscall ${call}`)) as { Success: boolean; Output: unknown; Error: string };

test('runs a service double that records its events', async () => {
  await createService('plain', 'C:\\k\\plain.exe --log C:\\x --flag');
  await host.run('sc start plain');
  expect(await stateOf('plain')).toBe('RUNNING');
  await host.run('sc stop plain');
  expect(await stateOf('plain')).toBe('STOPPED');
  const events = host.lab.serviceEvents('plain');
  expect(events.map(({ event }) => event)).toEqual(['start', 'running', 'stopping', 'stopped']);
  expect(events[0]).toMatchObject({ command: 'C:\\k\\plain.exe --log C:\\x --flag', environment: [] });
  expect(new Set(events.map(({ pid }) => pid)).size).toBe(1);
});

test('a machine variable reaches services after a reboot, and only its name is recorded', async () => {
  await createService('variables');
  await host.run(
    'reg add "HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment" /v HTTP_PROXY /d http://a:b@c /f',
  );
  await host.run('sc start variables');
  await host.reboot();
  await host.run('sc start variables');
  const seen = host.lab.serviceEvents('variables').filter(({ event }) => event === 'start');
  expect(seen.map(({ environment }) => environment)).toEqual([[], ['HTTP_PROXY']]);
  await host.run('sc stop variables');
});

test('faults: fails to start, starts and stops slowly, crashes, does not stop', async () => {
  await createService('faulty');
  const events = () => host.lab.serviceEvents('faulty').map(({ event }) => event);

  await host.lab.setFault('faulty', 'fail-start', 0);
  await host.exec('sc start faulty');
  await expect.poll(() => stateOf('faulty')).toBe('STOPPED');
  expect(events().at(-1)).toBe('fails');
  await host.lab.clearFaults();

  await host.lab.setFault('faulty', 'slow-start', 5000);
  await host.lab.setFault('faulty', 'slow-stop', 5000);
  await host.exec('sc start faulty');
  expect(await stateOf('faulty')).toBe('START_PENDING');
  await expect.poll(() => stateOf('faulty')).toBe('RUNNING');
  await host.exec('sc stop faulty');
  expect(await stateOf('faulty')).toBe('STOP_PENDING');
  await expect.poll(() => stateOf('faulty')).toBe('STOPPED');
  await host.lab.clearFaults();

  await host.lab.setFault('faulty', 'crash-after', 100);
  await host.exec('sc start faulty');
  await expect.poll(() => stateOf('faulty')).toBe('STOPPED');
  expect(events().at(-1)).toBe('crash');
  await host.lab.clearFaults();

  await host.lab.setFault('faulty', 'ignore-stop', 6000);
  await host.exec('sc start faulty');
  await host.exec('sc stop faulty');
  expect(events().at(-1)).toBe('ignores-stop');
  expect(await stateOf('faulty')).toBe('RUNNING');
  await expect.poll(() => stateOf('faulty')).toBe('STOPPED');
  await host.lab.clearFaults();
});

test('kube-log-runner runs a service that reports to the service manager itself', async () => {
  await host.install('kube-log-runner.exe', 'C:\\k\\kube-log-runner.exe');
  const runner = 'C:\\k\\kube-log-runner.exe -log-file=C:\\k\\carried.log -log-file-size=10';
  await createService('carried', `${runner} C:\\k\\carried.exe --windows-service`);
  await host.run('sc start carried');
  expect(await stateOf('carried')).toBe('RUNNING');
  expect(await host.run('tasklist')).toMatch(/kube-log-runner\.exe[^]*carried\.exe/);
  await host.run('sc stop carried');
  expect(await stateOf('carried')).toBe('STOPPED');
  await expect.poll(() => host.run('tasklist')).not.toContain('kube-log-runner.exe');
  expect(host.lab.serviceEvents('carried')[0]?.command).toBe('C:\\k\\carried.exe --windows-service');
});

test('kube-log-runner logs the output of a program and exits with its exit code', async () => {
  const { code } = await host.exec(
    'C:\\k\\kube-log-runner.exe -log-file=C:\\k\\said.log cmd.exe /c "echo hello& exit 9"',
  );
  expect(code).toBe(9);
  expect(host.drive.read('C:\\k\\said.log')).toBe('hello\r\n');
});

test('the Host Networking Service stores networks and endpoints', async () => {
  expect(await ask('GET /networks')).toEqual({ Success: true, Output: [] });
  await host.lab.setOverlay('10.132.7.0/24');
  await createService('hybrid-overlay-node');
  await host.run('sc start hybrid-overlay-node');
  await expect.poll(() => host.drive.list('C:\\lab\\hns\\networks')).toHaveLength(2);
  const networks = (await ask('GET /networks')).Output as { ID: string; Name: string }[];
  const overlay = networks.find(({ Name }) => Name === 'OVNKubernetesHybridOverlayNetwork');
  expect(overlay).toMatchObject({
    Type: 'Overlay',
    Subnets: [{ AddressPrefix: '10.132.7.0/24', GatewayAddress: '10.132.7.1' }],
    ManagementIP: host.address,
  });
  const request = JSON.stringify({ VirtualNetwork: overlay?.ID, Name: 'VIPEndpoint', Policies: [] }).replaceAll(
    '"',
    '\\"',
  );
  const { Output: endpoint } = await ask(`POST /endpoints "${request}"`);
  const { ID } = endpoint as { ID: string };
  expect(endpoint).toMatchObject({
    Name: 'VIPEndpoint',
    VirtualNetwork: overlay?.ID,
    IPAddress: '10.132.7.2',
    MacAddress: expect.stringMatching(/^00-15-5D(-[0-9A-F]{2}){3}$/),
  });
  expect((await ask(`POST /endpoints "${request}"`)).Output).toMatchObject({ IPAddress: '10.132.7.3' });
  expect(
    (await ask(`POST /endpoints/${ID}/attach "{\\"SystemType\\":\\"Host\\",\\"CompartmentId\\":1}"`)).Success,
  ).toBe(true);
  expect(host.drive.read(`C:\\lab\\hns\\endpoints\\${ID}.attached`)).toBe('{"SystemType":"Host","CompartmentId":1}');
  expect(await ask(`GET /endpoints/${ID}`)).toEqual({ Success: true, Output: endpoint });
  await host.reboot();
  expect((await ask('GET /networks')).Output).toHaveLength(2);
  expect((await ask(`DELETE /networks/${overlay?.ID}`)).Success).toBe(true);
  expect(await ask('GET /endpoints')).toEqual({ Success: true, Output: [] });
  expect(await ask(`DELETE /networks/${overlay?.ID}`)).toMatchObject({ Success: false, Error: 'Element not found. ' });
  await host.lab.failNetworkCalls('it is not ready');
  expect(await ask('GET /networks')).toMatchObject({ Success: false, Error: 'it is not ready' });
  await host.lab.failNetworkCalls(undefined);
  expect(host.lab.networkCalls()).toContain(`DELETE /networks/${overlay?.ID} `);
});

test('a feature is enabled at the next boot', async () => {
  const info = 'dism /Online /English /Get-FeatureInfo /FeatureName:';
  expect(await host.run(`${info}Containers`)).toContain('State : Disabled');
  const { code, stdout } = await host.exec('dism /Online /Enable-Feature /FeatureName:Containers /All /NoRestart');
  expect([code, stdout]).toEqual([3010 % 256, expect.stringContaining('completed successfully')]);
  expect(await host.run(`${info}Containers`)).toContain('State : Enable Pending');
  await host.reboot();
  expect(await host.run(`${info}Containers`)).toContain('State : Enabled');
  expect((await host.exec(`${info}NoSuch`)).stdout).toContain('Feature name NoSuch is unknown.');
});

test('PowerShell prints the configured answer however the script is passed', async () => {
  await host.lab.answerScript('date', { match: 'Get-Date', out: 'today\r\n' });
  await host.lab.answerScript('utc', {
    match: 'Get-Date -AsUTC',
    out: 'now\r\n',
    err: 'but\r\n',
    code: 4,
    delayMs: 200,
  });
  expect(await host.run('powershell.exe -NoProfile -Command "Get-Date"')).toBe('today');
  expect(await host.exec('powershell.exe -Command "Get-Date -AsUTC"')).toEqual({
    code: 4,
    stdout: 'now\r\n',
    stderr: 'but\r\n',
  });
  const encoded = Buffer.from('$x = Get-Date', 'utf16le').toString('base64');
  expect(await host.run(`powershell.exe -EncodedCommand ${encoded}`)).toBe('today');
  expect(await host.run('powershell.exe -Command -', { input: 'Get-Date' })).toBe('today');
  expect(host.lab.scripts()).toHaveLength(4);
});

test('no unexpected program was called so far', () => expect(host.lab.unexpected()).toEqual([]));

const loud: [string, string][] = [
  ['a program that Wine only pretends to have', 'netsh interface show interface'],
  ['setx, of which Wine says that it worked', 'setx NAME value'],
  ['certutil', 'certutil -addstore root C:\\k\\ca.crt'],
  ['icacls', 'icacls C:\\k /inheritance:r'],
  ['a script without an answer', 'powershell.exe -Command "Restart-Computer"'],
  ['another use of dism', 'dism /Online /Get-Features'],
  ['another use of shutdown', 'shutdown /l'],
];
for (const [name, command] of loud) {
  test(`fails loudly: ${name}`, async () => {
    const before = host.lab.unexpected().length;
    const { code, stderr } = await host.exec(command);
    expect(code).not.toBe(0);
    expect(stderr).toContain('the Windows lab');
    expect(host.lab.unexpected().slice(before)).toEqual([expect.stringContaining(command)]);
  });
}

test('fails loudly: an unknown request to the network service', async () => {
  expect(await ask('GET /policylists')).toMatchObject({ Success: false });
  expect(host.lab.unexpected().at(-1)).toContain('HNSCall GET /policylists');
});

test('shows that Wine ignores failure actions of services', async () => {
  const before = host.fixmes.length;
  await host.exec('sc failure plain reset= 300 actions= restart/1000');
  expect(host.fixmes.slice(before)).toEqual([expect.stringContaining('SERVICE_CONFIG_FAILURE_ACTIONS')]);
});
