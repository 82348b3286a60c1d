import { ensureIdentity, ensureServingCertificate, keepIdentity, RequestRefused } from './credentials.ts';
import type { Running } from './kubelet-host.ts';
import { NodeReporter } from './node-reporter.ts';
import { type KubeletSettings, readSettings } from './settings.ts';

/** How long a server may be away while there is no certificate yet; after it the kubelet ends, to be started again. */
const bootstrapLimitMs = 60_000;
const pauseMs = 1000;
const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

/** A kubelet without pods: everything from its start to a Node that is Ready. Ends when the signal is aborted. */
export async function runKubelet(running: Running): Promise<void> {
  const { flags, host, faults, clock, log, signal } = running;
  const settings = readSettings(await host.read(flags.config), flags.config);
  const name = (flags.hostnameOverride ?? host.hostName()).trim().toLowerCase();
  log.info('Starting', { node: name, ...faults });
  try {
    await Promise.all([live(name, settings, running), crashInTime(running)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await clock.sleep(faults.slowStopMs);
  log.info('Stopped');
}

async function live(name: string, settings: KubeletSettings, running: Running): Promise<void> {
  const { flags, host, clock, faults } = running;
  await untilDone(() => ensureIdentity(name, running), running, clock.monotonicMs() + bootstrapLimitMs);
  const client = await host.connect(flags.kubeconfig);
  try {
    const taints = [...settings.taints, ...(flags.isOfCloud ? [uninitialized] : [])];
    const facts = { ...settings, taints, name, nodeIp: flags.nodeIp, labels: flags.labels, host };
    const reporter = new NodeReporter(client, facts, running);
    if (!faults.noRegister) await untilDone(() => reporter.register(), running);
    const duties: [everyMs: number, duty: () => Promise<void>][] = [
      [5000, () => keepIdentity(client, name, settings, running)],
    ];
    if (!faults.noRegister) duties.push([1000, () => reporter.report()], [10_000, () => reporter.renewLease()]);
    if (settings.asksForServingCertificate)
      duties.push([30_000, () => ensureServingCertificate(client, name, running)]);
    await Promise.all(duties.map(([everyMs, duty]) => every(everyMs, duty, running)));
  } finally {
    await client.close();
  }
}

async function crashInTime({ faults: { crashAfterMs }, host, clock, signal }: Running): Promise<void> {
  if (crashAfterMs === undefined) return;
  await clock.sleep(crashAfterMs, signal);
  host.crash();
}

/** Rejects with the last error when the time is over, if there is an end of time. */
async function untilDone(work: () => Promise<void>, running: Running, lastAttemptMs = Infinity): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      running.signal.throwIfAborted();
      if (error instanceof RequestRefused || running.clock.monotonicMs() >= lastAttemptMs) throw error;
      running.log.error('Trying again', { error });
    }
    await running.clock.sleep(pauseMs, running.signal);
  }
}

/** For ever; a failure is told and tried again at the next turn. */
async function every(ms: number, work: () => Promise<void>, running: Running): Promise<never> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      running.signal.throwIfAborted();
      running.log.error('Trying again', { error });
    }
    await running.clock.sleep(ms, running.signal);
  }
}
