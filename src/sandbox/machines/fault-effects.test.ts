import { expect, test } from 'vitest';
import { isAppError } from '#base/errors.ts';
import { type Inventory, parseInventory } from '#contract/inventory.ts';
import { serviceName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import type { HostConnection } from '#host/host.ts';
import { installedAgent } from '../../../test/kit/installed-agent.ts';
import { startHost, type TestHost } from '../../../test/kit/simulated-host.ts';
import { type FaultName, faults, findFault } from './faults.ts';
import { defaultTimes } from './times.ts';

/** What each fault does to a client of the host. The compiler checks that none is missing. */

interface Met extends TestHost {
  /** The stable code of a failure, or `fine`. */
  codeOf(act: (connection: HostConnection) => Promise<unknown>): Promise<string>;
  run(command: string, timeoutMs?: number): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  inventory(): Promise<Inventory>;
  /** Starts a service that needs nothing but its program. */
  serve(name: string): Promise<void>;
  stateOf(name: string): Promise<string | undefined>;
}

const patient = { interval: 10 };
const upload = (bytes: number) => (connection: HostConnection) =>
  connection.upload('C:\\k\\file', Buffer.alloc(bytes), { stallTimeoutMs: 2000 });
const nothing = async () => undefined;
const bootstrap = installedAgent.bootstrap({ version: '1', namespace: 'ns', node: 'win-1' });

const effects: Record<FaultName, (met: Met) => Promise<void>> = {
  unreachable: async met => expect(await met.codeOf(nothing)).toBe('HOST_UNREACHABLE'),
  refused: async met => expect(await met.codeOf(nothing)).toBe('HOST_UNREACHABLE'),
  'no-ssh': async met => expect(await met.codeOf(nothing)).toBe('HOST_NOT_SSH'),
  'wrong-key': async met => expect(await met.codeOf(nothing)).toBe('HOST_REFUSED_KEY'),
  'password-only': async met => expect(await met.codeOf(nothing)).toBe('HOST_WANTS_PASSWORD'),
  'key-and-password': async met => expect(await met.codeOf(nothing)).toBe('HOST_WANTS_PASSWORD'),
  'changed-host-key': async met => {
    await using first = await met.connect();
    await using second = await met.connect();
    expect(second.facts.hostKey.blob).not.toEqual(first.facts.hostKey.blob);
  },
  'no-sftp': async met => expect(await met.codeOf(upload(1))).toBe('HOST_SFTP_MISSING'),
  'no-admin': async met => expect((await met.inventory()).isAdministrator).toBe(false),
  powershell: async met => expect((await met.run('foo')).stderr).toContain("The term 'foo'"),
  german: async met => expect((await met.run('foo')).stderr).toContain('Der Befehl "foo"'),
  french: async met => expect((await met.run('foo')).stderr).toContain('\ufffd'),
  japanese: async met => expect((await met.run('foo')).stderr).toContain('\ufffd'),
  'full-disk': async met => expect(await met.codeOf(upload(15_000_000))).toBe('HOST_DISK_FULL'),
  'slow-disk': async met => {
    const startMs = performance.now();
    expect(await met.codeOf(upload(5_000_000))).toBe('fine');
    expect(performance.now() - startMs).toBeGreaterThan(90);
  },
  'slow-network': async met => {
    const startMs = performance.now();
    expect(await met.codeOf(upload(5_000_000))).toBe('fine');
    expect(performance.now() - startMs).toBeGreaterThan(450);
  },
  'slow-start': async met => {
    await met.serve('csi-proxy');
    await new Promise(resolve => setTimeout(resolve, 200));
    expect(await met.stateOf('csi-proxy')).toBe('start-pending');
    await expect.poll(() => met.stateOf('csi-proxy'), patient).toBe('running');
  },
  'slow-boot': async met => {
    met.host.cutPower();
    await new Promise(resolve => setTimeout(resolve, 500));
    expect(met.host.isOn).toBe(false);
  },
  'dropped-connection': async met => {
    expect(await met.codeOf(upload(3_000_000))).toBe('HOST_CONNECTION_LOST');
    expect(await met.codeOf(upload(3_000_000))).toBe('fine');
  },
  'hung-command': async met => {
    expect(await met.codeOf(connection => connection.exec(bootstrap, { timeoutMs: 200 }))).toBe('HOST_COMMAND_TIMEOUT');
    expect((await met.run(bootstrap)).stderr).toContain('CREDENTIAL_UNREADABLE');
  },
  'power-cut': async met => {
    expect(await met.codeOf(connection => connection.exec(bootstrap))).toBe('HOST_CONNECTION_LOST');
    await expect.poll(() => met.host.isOn, patient).toBe(true);
    expect(met.host.stats.reboots).toBe(1);
  },
  'no-containers': async met => expect((await met.inventory()).containersFeature).toBe('disabled'),
  'pending-reboot': async met => expect((await met.inventory()).pendingReboot).toEqual(['Windows Update']),
  'lost-in-reboot': async met => {
    const { bootId } = await met.inventory();
    await met.run(installedAgent.reboot(bootId, 0));
    await expect.poll(() => met.host.isOn, patient).toBe(false);
    await new Promise(resolve => setTimeout(resolve, defaultTimes.bootMs / 100 + 200));
    expect(met.host.isOn).toBe(false);
  },
  'clock-skew': async met => {
    const aheadMs = Date.parse((await met.inventory()).time) - Date.now();
    expect(Math.abs(aheadMs + 7_200_000)).toBeLessThan(60_000);
  },
  'failing-service': async met => {
    await met.serve(serviceName.containerd);
    await expect.poll(() => met.stateOf(serviceName.containerd), patient).toBe('stopped');
  },
  'stubborn-service': async met => {
    await met.serve(serviceName.kubeProxy);
    await expect.poll(() => met.stateOf(serviceName.kubeProxy), patient).toBe('running');
    await met.host.services.stop(serviceName.kubeProxy);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(await met.stateOf(serviceName.kubeProxy)).toBe('stop-pending');
  },
  'foreign-containerd': async met =>
    expect((await met.inventory()).services).toMatchObject([{ name: 'containerd', isManaged: false }]),
  // Effects on kubelet and network need a cluster; here only the traits are checked.
  'never-ready': async met => expect(met.host.spec.traits.kubelet).toBe('never ready'),
  'no-node': async met => expect(met.host.spec.traits.kubelet).toBe('never registers'),
  'no-subnet': async met => expect(met.host.spec.traits.getsSubnet).toBe(false),
  'no-api': async met => {
    const { stdout } = await met.run(installedAgent.inventory({ apiServerUrl: 'https://127.0.0.1:6443' }));
    expect(parseInventory(stdout, 'x').probe?.problem).toContain('ECONNREFUSED');
  },
  'busy-port': async met => expect((await met.inventory()).portsInUse).toEqual([10_250]),
  'old-windows': async met => expect((await met.inventory()).os.build).toMatch(/^10\.0\.14393\./),
  'client-windows': async met => expect((await met.inventory()).os.installationType).toBe('Client'),
  'bad-name': async met => expect((await met.inventory()).hostName).toBe('WIN_HOST'),
  'wrong-proxy': async met => {
    await met.host.files.write(file.agentKubeconfig, kubeconfig);
    const { exitCode, stderr } = await met.run(bootstrap);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('API_UNREACHABLE')]);
  },
};

const kubeconfig = JSON.stringify({
  clusters: [{ name: 'local', cluster: { server: 'https://api.sandbox.test:6443' } }],
  users: [{ name: 'wicd', user: { token: 'token' } }],
  contexts: [{ name: 'wicd', context: { cluster: 'local', user: 'wicd' } }],
  'current-context': 'wicd',
});

async function meet(fault: FaultName): Promise<Met> {
  // What is slow must be so even beside a busy machine.
  const made = await startHost({ ...findFault(fault), speed: fault.startsWith('slow') ? 10 : 100 });
  await made.install(file.agent);
  const run: Met['run'] = async (command, timeoutMs = 20_000) => {
    await using connection = await made.connect();
    return await connection.exec(command, { timeoutMs });
  };
  return Object.assign(made, {
    run,
    codeOf: async (act: (connection: HostConnection) => Promise<unknown>) => {
      try {
        await using connection = await made.connect();
        await act(connection);
        return 'fine';
      } catch (error) {
        return isAppError(error) ? error.code : String(error);
      }
    },
    inventory: async () => parseInventory((await run(installedAgent.inventory())).stdout, 'win-1'),
    serve: async (name: string) => {
      await made.install(file.csiProxy);
      const config = { command: file.csiProxy, description: '', dependencies: [], recovery: undefined } as const;
      await made.host.services.create(name, { ...config, startType: 'manual' });
      await made.host.services.start(name);
    },
    stateOf: async (name: string) => (await made.host.services.query(name))?.state,
  });
}

for (const [name, look] of Object.entries(effects) as [FaultName, (met: Met) => Promise<void>][]) {
  test(`${name}: ${faults[name].description}`, async () => {
    await using met = await meet(name);
    await look(met);
  });
}
